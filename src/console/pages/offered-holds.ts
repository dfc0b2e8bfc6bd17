import { HOLD_SCOPE, HOLD_SCOPES, type HoldScopeName } from "../../domain/holds.ts";

/** What is put on hold from pages of its own; everything is stopped on the emergency page. */
const ELSEWHERE: readonly HoldScopeName[] = ["payable", "contact", "run", "all"];

/** What the form for new holds offers. */
export const OFFERED = HOLD_SCOPES.flatMap((scope) => {
  const { kind, field: key } = HOLD_SCOPE[scope];
  return kind === null || ELSEWHERE.includes(scope) ? [] : [{ scope, kind, key }];
});

export type Offered = (typeof OFFERED)[number];

/** Returns the title of the form, which links to it show too: `Hold an account`. */
export function titleOf({ kind }: Offered): string {
  return `Hold ${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}
