import type { BusinessProfile } from "../../config/business-profile.ts";
import { identityId, type SessionHolder, sessionProblem } from "../../domain/approvals/session.ts";
import { principalOf } from "../../domain/approvals/principal.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import type { Principal } from "../../actions/principal.ts";
import type { Db } from "../../store/index.ts";
import { findSession, holderOf } from "../../store/approvals/sessions.ts";
import { getToken, type Token } from "../../store/approvals/tokens.ts";
import type { GatewayContext } from "./context.ts";

type Judging = Pick<GatewayContext, "nowMs" | "sandboxesOnly" | "profiles">;

/** Somebody who is signed in, and by which session. */
export interface SignedIn extends Principal {
  readonly signedInAtMs: number;
  readonly sessionId: string;
}

/**
 * Whom a session stands for at this moment, as its token or the profiles say now; undefined where it
 * counts for nothing.
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

/** Who may act by a token, or by a provider's word, at this moment; undefined for nobody. */
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
  // What the profiles say by now of the businesses that were chosen isn't one thing any more.
  if (only === undefined || same.length > 1) return undefined;
  const businesses = only.businesses.filter((business) => holder.businesses.includes(business));
  return { ...only, businesses };
}

interface IdentityInBusinesses extends Principal {
  readonly businesses: readonly string[];
}

/** Whom the profiles have under a provider's id: one entry for the businesses that say the same. */
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
