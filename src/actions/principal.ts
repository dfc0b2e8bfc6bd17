import type { Token } from "../store/approvals/tokens.ts";
import { GatewayError } from "./errors.ts";
import { hasRole } from "../domain/approvals/token.ts";

/** The caller: known by a token, or by a session of the console. */
export interface Principal extends Pick<Token, "name" | "roles" | "businesses"> {
  /** For a person who signed in at a company's provider: `oidc/` and their identity there. */
  readonly tokenId: string;
  /** When they signed in; undefined if they presented the token itself. */
  readonly signedInAtMs?: number;
}

/**
 * Checks that a principal holds one of the roles.
 *
 * @param besides a sentence about who else may
 * @throws GatewayError 403 if the principal holds none of them
 */
export function requireRole(
  principal: Principal,
  roles: readonly string[],
  besides: string = "",
): void {
  if (hasRole(principal, roles)) return;
  const wanted = [...new Set(roles)];
  const which = wanted.length === 1 ? "the role" : "one of the roles";
  throw new GatewayError(
    "forbidden",
    `This needs ${which} ${wanted.join(", ")}; ${principal.name} has ${
      principal.roles.join(", ") || "none"
    }.${besides === "" ? "" : ` ${besides}`}`,
  );
}
