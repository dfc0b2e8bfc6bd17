import { shellWord } from "../../domain/shell-word.ts";
import { shownBillState } from "../../domain/runs/given-back.ts";
import { waysOut } from "../../domain/planning/ways-out.ts";
import { dim, fitting } from "../terminal/text.ts";

type Bill = Parameters<typeof shownBillState>[0] & {
  readonly publicId: string | null;
  readonly payableId: string;
  readonly reasonCode: string | null;
};

/** Returns the commands for bills that wait for a person; a bill's reason only says what to do. */
export function resolveHint(bills: readonly Bill[]): string[] {
  const parked = bills.filter((bill) => shownBillState(bill) === "parked");
  const [first, ...others] = parked;
  if (first === undefined) return [];
  const which = others.length === 0 ? shellWord(first.publicId ?? first.payableId) : "BILL";
  return fitting(waysOut(parked, which)).map(dim);
}
