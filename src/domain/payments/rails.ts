/** Rails of funding sources (API specification, section 2). */
const RAILS: ReadonlySet<string> = new Set(["PROVIDER", "SERVICE"]);

/**
 * True for a rail that takes money to the vendor's bank account. A payment that a person recorded
 * as made elsewhere (check, wire, cash) has none, and shows nothing about an account; nor does one
 * with a rail that the specification doesn't list.
 */
export function reachesAccount(rail: string | null): boolean {
  return rail !== null && RAILS.has(rail);
}
