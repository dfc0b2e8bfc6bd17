import { spokenDate, spokenTime } from "./clock/spoken.ts";
import { counted } from "./counted.ts";
import { formatUsd } from "./money.ts";

/** How a restored store sends. */
export interface SendsAfter {
  readonly zone: string;
  /** The instant before which it sends nothing; null where that has passed, or nothing was lost. */
  readonly notBefore: string | null;
  /** It was restored since the plan was made, which may have bills that are paid already. */
  readonly restored?: true | undefined;
}

/** Bills that are released, and the instant before which a restored store sends none. */
interface GoesOut extends SendsAfter {
  readonly bills: number;
}

/** `go out now`; of a store that was restored `go out after Mon, Nov 23, 9:00 AM New York`. */
export function goOut({ bills, ...sends }: GoesOut, at: "now" | "then"): string {
  const go = bills === 1 ? "goes" : "go";
  return `${go} out${afterText(sends) || ` ${at}`}`;
}

/** ` after Mon, Nov 23, 9:00 AM New York` of a store that was restored; else nothing. */
export function afterText(sends: SendsAfter | undefined): string {
  if (sends === undefined || sends.notBefore === null) return "";
  return ` after ${spokenTime(sends.notBefore, sends.zone)}`;
}

/** Of a store that was restored: nobody must think that what was paid before is paid again. */
export function afterLossText(sends: SendsAfter | undefined): string {
  if (sends === undefined || (sends.notBefore === null && sends.restored === undefined)) return "";
  return "The store was restored: what was paid meanwhile is found before anything is sent, and is not paid again.";
}

/** What becomes of released bills whose day has passed: nothing of them goes out yet. */
export function askedAgainText(bills: {
  readonly bills: number;
  readonly totalCents: number;
  /** The day to which they move, as YYYY-MM-DD. */
  readonly executionDate: string;
}): string {
  const [move, whose] = bills.bills === 1 ? ["moves", "its"] : ["move", "their"];
  const day = spokenDate(bills.executionDate);
  return `${counted(bills.bills, "bill")} of ${formatUsd(bills.totalCents)} ${move} to ${day}, because ${whose} day has passed, and an approval is asked for again.`;
}
