import type { Context } from "hono";
import { findToken } from "../../store/tokens.ts";
import type { GatewayContext } from "../context.ts";
import { GatewayError } from "./errors.ts";
import { noteUnauthorized } from "./refusals.ts";

/** Who asks: known by the name of their token. */
export interface Principal {
  readonly tokenId: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/**
 * Finds whose bearer token a request carries. A token that counts for nothing is written down.
 *
 * @throws GatewayError 401 where there is none, or it is unknown, expired or revoked; 429 where it asks too often
 */
export async function authenticate(
  c: Context,
  context: Pick<GatewayContext, "store" | "nowMs" | "metrics" | "refused" | "log" | "rates">,
): Promise<Principal> {
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
  const token = await findToken(context.store.db, match[1], context.nowMs());
  if (token === undefined) {
    await noteUnauthorized(context, c, match[1]);
    throw unauthorized(
      "The token is unknown, expired or revoked; “payrun token create” makes a new one.",
    );
  }
  await context.rates.token(token.tokenId);
  return token;
}

/** @throws GatewayError 403 where the principal holds none of the roles */
export function requireRole(principal: Principal, roles: readonly string[]): void {
  if (principal.roles.some((role) => roles.includes(role))) return;
  throw new GatewayError(
    403,
    "forbidden",
    `This needs one of the roles ${roles.join(", ")}; the token of ${principal.name} has ${
      principal.roles.join(", ") || "none"
    }.`,
  );
}

function unauthorized(message: string): GatewayError {
  return new GatewayError(401, "unauthorized", message);
}
