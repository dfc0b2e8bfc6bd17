import type { Context } from "hono";
import { type TokenProblem, tokenProblem } from "../../domain/approvals/token.ts";
import type { Db } from "../../store/index.ts";
import { differsFromTrail } from "../../store/audit/audit-compare.ts";
import { findToken, type Token } from "../../store/approvals/tokens.ts";
import type { Principal } from "../../actions/principal.ts";
import type { GatewayContext } from "./context.ts";
import { GatewayError } from "../../actions/errors.ts";
import { noteUnauthorized } from "./refusals.ts";
import { addressOf } from "./request.ts";
import { principalOfSession } from "./session-principal.ts";

/** The authenticated caller of a request, and the credential that it presented. */
export interface Caller {
  readonly principal: Principal;
  /** A token's text, or the secret of a session's cookie. */
  readonly shown: { readonly kind: "token" | "session"; readonly secret: string };
}

/** What is needed to judge a caller again. */
type Judging = Pick<GatewayContext, "nowMs" | "sandboxesOnly" | "profiles">;

/**
 * Finds the token that a request carries as its bearer token. Records an attempt with an invalid
 * token.
 *
 * @throws GatewayError 401 if there is no token or it isn't valid; 429 if the token's rate is
 * exceeded
 */
export async function authenticate(c: Context, context: GatewayContext): Promise<Caller> {
  const header = c.req.header("authorization");
  const match = /^Bearer +(\S+)$/i.exec(header?.trim() ?? "");
  if (match?.[1] === undefined) {
    context.metrics.refused.inc({ why: "no_token" });
    throw unauthorized(
      header === undefined
        ? "This needs a token: send it as “Authorization: Bearer <token>”."
        : "The Authorization header must read “Bearer <token>”.",
    );
  }
  const token = await findToken(context.store.db, match[1]);
  const problem = token === undefined ? "unknown" : problemNow(context, token);
  if (token === undefined || problem !== undefined) {
    await noteUnauthorized(context, c, { text: match[1], token, why: problem ?? "unknown" });
    throw countsForNothing(problem ?? "unknown", token?.tokenId);
  }
  await context.rates.token(token.tokenId);
  context.uses.note({ id: token.tokenId, name: token.name }, addressOf(c, context));
  return { principal: token, shown: { kind: "token", secret: match[1] } };
}

/**
 * Checks that a caller's credential still counts, and that it is what the trail says: one that
 * somebody wrote into the store's tables, or gave other roles there, changes nothing.
 *
 * @throws GatewayError 401 if the token or the session has ended since, or the session now stands
 * for another principal, other roles or other businesses
 */
export async function requireStillCounts(
  context: Judging,
  { principal, shown }: Caller,
  db: Db,
): Promise<void> {
  if (shown.kind === "session") {
    const now = await principalOfSession(context, db, shown.secret);
    if (now === undefined) throw signedOut();
    if (!isSame(now, principal)) {
      throw unauthorized("Your roles have changed meanwhile: load the page again.");
    }
    await requireAsInTrail(db, "sessions", now.sessionId);
    await requireAsInTrail(db, "tokens", now.tokenId);
    return;
  }
  const token = await findToken(db, shown.secret);
  const problem = token === undefined ? "unknown" : problemNow(context, token);
  if (problem !== undefined) throw countsForNothing(problem, token?.tokenId);
  await requireAsInTrail(db, "tokens", principal.tokenId);
}

/** An identity of a profile has no token, and so no row that could differ. */
async function requireAsInTrail(db: Db, table: "tokens" | "sessions", id: string): Promise<void> {
  if (!(await differsFromTrail(db, table, id))) return;
  throw unauthorized(
    "What lets you in is not what the audit trail says of it, so it changes nothing: “payrun audit verify” on the store's host names the difference.",
  );
}

function isSame(one: Principal, other: Principal): boolean {
  const factsOf = ({ tokenId, name, roles, businesses }: Principal) =>
    JSON.stringify([tokenId, name, roles, businesses]);
  return factsOf(one) === factsOf(other);
}

/** Returns why a token isn't valid at this moment; undefined if it is. */
function problemNow(
  { nowMs, sandboxesOnly }: Pick<GatewayContext, "nowMs" | "sandboxesOnly">,
  token: Token,
): TokenProblem | undefined {
  return tokenProblem(token, { nowMs: nowMs(), sandboxesOnly: sandboxesOnly() });
}

/** Returns the 401 for a token that isn't valid. */
function countsForNothing(why: TokenProblem | "unknown", tokenId = ""): GatewayError {
  return unauthorized(
    why === "unconfirmed"
      ? `The token counts once a second administrator has confirmed it: payrun token confirm ${tokenId}. A store gets its first two with “payrun token bootstrap”.`
      : "The token is unknown, expired or revoked; “payrun token create” makes a new one.",
  );
}

/** Returns the 401 for a caller who is not signed in at the console, or no longer is. */
export function signedOut(): GatewayError {
  return new GatewayError(
    "signed_out",
    "You are not signed in, or no longer: open /sign-in; “payrun login” prints a link.",
  );
}

function unauthorized(message: string): GatewayError {
  return new GatewayError("unauthorized", message);
}
