import type { BusinessProfile } from "../../config/business-profile.ts";
import { identityId, type SessionHolder, sessionProblem } from "../../domain/approvals/session.ts";
import { principalOf } from "../../contracts/principal.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import type { Principal } from "../../actions/principal.ts";
import type { Db } from "../../store/index.ts";
import { findSession, holderOf } from "../../store/approvals/sessions.ts";
import { getToken, type Token } from "../../store/approvals/tokens.ts";
import type { GatewayContext } from "./context.ts";

type Judging = Pick<GatewayContext, "nowMs" | "sandboxesOnly" | "profiles">;

/** The principal who is signed in, and by which session. */
export interface SignedIn extends Principal {
  readonly signedInAtMs: number;
  readonly sessionId: string;
}

/**
 * Returns the principal of a session at this moment, as its token or the profiles say now;
 * undefined if the session doesn't count.
 */
export async function principalOfSession(
  context: Judging,
  db: Db,
  secret: string,
): Promise<SignedIn | undefined> {
  const session = await findSession(db, secret);
  if (session === undefined || sessionProblem(session, context.nowMs()) !== undefined) {
    return undefined;
  }
  const holder = await principalOfHolder(context, db, holderOf(session));
  const { signedInAtMs, sessionId } = session;
  return holder === undefined ? undefined : { ...holder, signedInAtMs, sessionId };
}

/**
 * Returns the principal of a token, or of an identity that a provider vouched for, at this moment;
 * undefined if it doesn't count.
 */
export async function principalOfHolder(
  { nowMs, sandboxesOnly, profiles }: Judging,
  db: Db,
  holder: SessionHolder,
): Promise<(Principal & Partial<Pick<Token, "expiresAtMs">>) | undefined> {
  if ("tokenId" in holder) {
    const token = await getToken(db, holder.tokenId);
    const now = { nowMs: nowMs(), sandboxesOnly: sandboxesOnly() };
    if (token === undefined || tokenProblem(token, now) !== undefined) return undefined;
    const { tokenId, name, roles, businesses, expiresAtMs } = token;
    return { tokenId, name, roles, businesses, expiresAtMs };
  }
  const same = identitiesOf(profiles.all(), holder).filter(({ businesses }) =>
    businesses.some((business) => holder.businesses.includes(business)),
  );
  const [only] = same;
  // The profiles no longer give the businesses that were chosen one and the same name and roles.
  if (only === undefined || same.length > 1) return undefined;
  const businesses = only.businesses.filter((business) => holder.businesses.includes(business));
  return { ...only, businesses };
}

interface IdentityInBusinesses extends Principal {
  readonly businesses: readonly string[];
}

/**
 * Returns the principals that the profiles list for a provider's id: one entry for all businesses
 * that give it the same name and roles.
 */
export function identitiesOf(
  profiles: readonly BusinessProfile[],
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): IdentityInBusinesses[] {
  const found = new Map<string, IdentityInBusinesses>();
  for (const { name: business, identities = [] } of profiles) {
    const mine = identities.find((each) => each.issuer === issuer && each.subject === subject);
    if (mine === undefined) continue;
    const roles = [...new Set(mine.roles)].toSorted();
    const key = JSON.stringify([principalOf(mine.name), roles]);
    const known = found.get(key)?.businesses ?? [];
    const tokenId = identityId({ issuer, subject });
    found.set(key, { tokenId, name: mine.name, roles, businesses: [...known, business] });
  }
  return [...found.values()];
}
