import { shellWord } from "../../domain/shell-word.ts";
import { stateTold } from "../../domain/runs/given-back.ts";
import { dim } from "../terminal/text.ts";

type Bill = Parameters<typeof stateTold>[0] & {
  readonly publicId: string | null;
  readonly payableId: string;
};

/** What a person types about bills that wait for them: a bill's reason says only what to do. */
export function resolveHint(bills: readonly Bill[]): string[] {
  const [first, ...others] = bills.filter((bill) => stateTold(bill) === "parked");
  if (first === undefined) return [];
  const which = others.length === 0 ? shellWord(first.publicId ?? first.payableId) : "BILL";
  return [dim(`payrun resolve ${which} --retry, --paid-elsewhere or --give-up, and --reason …`)];
}
