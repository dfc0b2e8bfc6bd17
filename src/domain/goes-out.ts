import { spokenDate, spokenTime } from "./clock/spoken.ts";
import { counted } from "./counted.ts";
import { formatUsd } from "./money.ts";

/** Whether a store was restored, and when it sends again. */
export interface SendsAfter {
  readonly zone: string;
  /** The instant before which it sends nothing; null if that has passed, or if nothing was lost. */
  readonly notBefore: string | null;
  /**
   * True if it was restored after the plan was made: the plan may contain bills that are already
   * paid.
   */
  readonly restored?: true | undefined;
}

/** Bills that are released, and the instant before which a restored store sends none. */
interface GoesOut extends SendsAfter {
  readonly bills: number;
}

/**
 * Says when bills go out: `go out now`, or `go out after Mon, Nov 23, 9:00 AM New York` if the
 * store was restored.
 */
export function goOut({ bills, ...sends }: GoesOut, at: "now" | "then"): string {
  const go = bills === 1 ? "goes" : "go";
  return `${go} out${afterText(sends) || ` ${at}`}`;
}

/** Returns ` after Mon, Nov 23, 9:00 AM New York` if the store was restored, otherwise nothing. */
export function afterText(sends: SendsAfter | undefined): string {
  if (sends === undefined || sends.notBefore === null) return "";
  return ` after ${spokenTime(sends.notBefore, sends.zone)}`;
}

/**
 * Returns what people must know if the store was restored, otherwise nothing: they must not think
 * that what was paid before is paid again.
 */
export function afterLossText(sends: SendsAfter | undefined): string {
  if (sends === undefined || (sends.notBefore === null && sends.restored === undefined)) return "";
  return "The store was restored: what was paid meanwhile is found before anything is sent, and is not paid again.";
}

/** Says what happens to released bills whose day has passed: none of them goes out yet. */
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
