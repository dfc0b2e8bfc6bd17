import { principalOf } from "../../contracts/principal.ts";

/** Returns a principal's own mail address, as a profile has it; undefined if it can't be written to. */
export function ownAddress(
  {
    people = {},
    smtp,
  }: { readonly people?: Readonly<Record<string, string>>; readonly smtp?: object },
  principal: string,
): string | undefined {
  if (smtp === undefined) return undefined;
  return Object.entries(people).find(([name]) => principalOf(name) === principal)?.[1];
}
