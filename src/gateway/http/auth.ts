import type { Context } from "hono";
import { type TokenProblem, tokenProblem } from "../../domain/approvals/token.ts";
import type { Db } from "../../store/index.ts";
import { findToken, type Token } from "../../store/approvals/tokens.ts";
import type { Principal } from "../../actions/principal.ts";
import type { GatewayContext } from "./context.ts";
import { GatewayError } from "../../actions/errors.ts";
import { noteUnauthorized } from "./refusals.ts";
import { addressOf } from "./request.ts";
import { principalOfSession } from "./session-principal.ts";

/** Who asks, and what they showed then. */
export interface Caller {
  readonly principal: Principal;
  /** A token's text, or the secret of a session's cookie. */
  readonly shown: { readonly kind: "token" | "session"; readonly secret: string };
}

/** What whoever judges a caller again must know. */
type Judging = Pick<GatewayContext, "nowMs" | "sandboxesOnly" | "profiles">;

/**
 * Finds whose bearer token a request carries. A token that counts for nothing is written down.
 *
 * @throws GatewayError 401 where there is none, or it counts for nothing; 429 where it asks too often
 */
export async function authenticate(c: Context, context: GatewayContext): Promise<Caller> {
  const header = c.req.header("authorization");
  const match = /^Bearer +(\S+)$/i.exec(header?.trim() ?? "");
  if (match?.[1] === undefined) {
    context.metrics.refused.inc({ why: "no-token" });
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
 * @throws GatewayError 401 where the token or the session has ended since, or stands for something
 * else by now
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
    return;
  }
  const token = await findToken(db, shown.secret);
  const problem = token === undefined ? "unknown" : problemNow(context, token);
  if (problem !== undefined) throw countsForNothing(problem, token?.tokenId);
}

function isSame(one: Principal, other: Principal): boolean {
  const factsOf = ({ tokenId, name, roles, businesses }: Principal) =>
    JSON.stringify([tokenId, name, roles, businesses]);
  return factsOf(one) === factsOf(other);
}

/** What keeps a token from counting at this moment; undefined for nothing. */
function problemNow(
  { nowMs, sandboxesOnly }: Pick<GatewayContext, "nowMs" | "sandboxesOnly">,
  token: Token,
): TokenProblem | undefined {
  return tokenProblem(token, { nowMs: nowMs(), sandboxesOnly: sandboxesOnly() });
}

/** The answer to whoever comes with a token that counts for nothing. */
function countsForNothing(why: TokenProblem | "unknown", tokenId = ""): GatewayError {
  return unauthorized(
    why === "unconfirmed"
      ? `The token counts once a second administrator has confirmed it: payrun token confirm ${tokenId}. A store gets its first two with “payrun token bootstrap”.`
      : "The token is unknown, expired or revoked; “payrun token create” makes a new one.",
  );
}

/** 401 for whoever is not signed in at the console, or no more. */
export function signedOut(): GatewayError {
  return new GatewayError(
    401,
    "signed_out",
    "You are not signed in, or no more: open /sign-in; “payrun login” prints a link.",
  );
}

function unauthorized(message: string): GatewayError {
  return new GatewayError(401, "unauthorized", message);
}
