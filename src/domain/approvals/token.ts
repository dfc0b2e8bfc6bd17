import { type AuthorKind } from "../../contracts/authors.ts";
import { personNameProblem, principalOf } from "../../contracts/principal.ts";

/** Default lifetime of a token, in days. */
export const TOKEN_DAYS = 90;

/** Payrun's own roles, which approve nothing. */
export const OWN_ROLES: readonly string[] = ["viewer", "launcher", "operator", "admin"];

/**
 * Roles that may operate: hold, cancel, and make every decision for which no playbook names roles.
 */
export const OPERATE = ["operator", "admin"] as const;

/** True if a principal has one of the roles. */
export function hasRole(
  { roles: held }: { readonly roles: readonly string[] },
  roles: readonly string[],
): boolean {
  return held.some((role) => roles.includes(role));
}

/** Roles that approve and decide nothing. A token with any other role needs a second person. */
const ONE_PERSON_ROLES: readonly string[] = ["viewer", "launcher", "operator"];

/** The facts that decide whether a token is valid. */
export interface TokenFacts {
  readonly roles: readonly string[];
  readonly confirmedAtMs: number | null;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
}

export type TokenProblem = "revoked" | "expired" | "unconfirmed";

/** A token as people see it. Instants are ISO 8601. */
export interface TokenView {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** Names of profiles; null for all. */
  readonly businesses: readonly string[] | null;
  readonly state: TokenProblem | "valid";
  readonly createdBy: string;
  readonly createdAt: string;
  readonly confirmedBy: string | null;
  readonly confirmedAt: string | null;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

/** True if a token with these roles is valid only after a second person has confirmed it. */
export function needsConfirmation(roles: readonly string[]): boolean {
  return roles.some((role) => !ONE_PERSON_ROLES.includes(role));
}

/**
 * Returns why a token is not valid; undefined if it is.
 *
 * @param sandboxesOnly true if no real money moves: then tokens need no confirmation
 */
export function tokenProblem(
  token: TokenFacts,
  { nowMs, sandboxesOnly }: { readonly nowMs: number; readonly sandboxesOnly: boolean },
): TokenProblem | undefined {
  // `revokedAtMs` comes from another gateway's clock, which may be ahead, so its value is not
  // compared.
  if (token.revokedAtMs !== null) return "revoked";
  if (token.expiresAtMs <= nowMs) return "expired";
  if (token.confirmedAtMs !== null || sandboxesOnly || !needsConfirmation(token.roles))
    return undefined;
  return "unconfirmed";
}

/** Returns why a person may not confirm a token; undefined if they may. */
export function confirmationProblem(
  token: TokenFacts & { readonly createdBy: string; readonly createdByKind: AuthorKind },
  by: { readonly name: string; readonly confirmedAtMs: number | null },
  nowMs: number,
): string | undefined {
  const isMaker = token.createdByKind === "principal";
  if (isMaker && principalOf(by.name) === principalOf(token.createdBy)) {
    return `${token.createdBy} made this token; a second person with the role admin confirms it`;
  }
  // In a sandbox one person can create a second principal, whose confirmations would count forever.
  if (by.confirmedAtMs === null) {
    return "your own token is not confirmed, which is enough for sandboxes only: confirm with one of “payrun token bootstrap”, or with one that was confirmed";
  }
  const problem = tokenProblem(token, { nowMs, sandboxesOnly: true });
  return problem === undefined ? undefined : `this token is ${problem}`;
}

/** True if a token for these businesses acts for this one; null means all. */
export function actsFor(businesses: readonly string[] | null, business: string): boolean {
  return businesses === null || businesses.includes(business);
}

/** True if a token for `mine` acts for all of `theirs`; null means all businesses. */
export function coversBusinesses(
  mine: readonly string[] | null,
  theirs: readonly string[] | null,
): boolean {
  return mine === null || (theirs?.every((business) => mine.includes(business)) ?? false);
}

/** Returns why this can't be a token's name; undefined if it can. */
export function tokenNameProblem(name: string): string | undefined {
  const isWhole = /^\S(.{0,98}\S)?$/.test(name) && !/\p{C}/u.test(name) && principalOf(name) !== "";
  if (!isWhole) return "a token's name is 1 to 100 visible characters, without spaces at its ends";
  const problem = personNameProblem(name);
  return problem === undefined ? undefined : `the name ${problem}`;
}

/** Returns why this can't be a role; undefined if it can. */
export function roleProblem(role: string): string | undefined {
  return /^[a-z][a-z0-9-]{0,49}$/.test(role)
    ? undefined
    : `“${role}” can't be a role: lower-case letters, digits and dashes`;
}
