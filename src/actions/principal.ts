import type { Token } from "../store/approvals/tokens.ts";
import { GatewayError } from "./errors.ts";
import { hasRole } from "../domain/approvals/token.ts";

/** Who asks: known by their token, or by a session of the console. */
export interface Principal extends Pick<Token, "name" | "roles" | "businesses"> {
  /** Of whoever signed in at a company's provider, `oidc/` and who they are there. */
  readonly tokenId: string;
  /** When they signed in; undefined for whoever shows the token itself. */
  readonly signedInAtMs?: number;
}

/**
 * @param besides a sentence about who else may
 * @throws GatewayError 403 where the principal holds none of the roles
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
    403,
    "forbidden",
    `This needs ${which} ${wanted.join(", ")}; ${principal.name} has ${
      principal.roles.join(", ") || "none"
    }.${besides === "" ? "" : ` ${besides}`}`,
  );
}
