import { spokenTime } from "../clock/spoken.ts";
import { formatUsd } from "../money.ts";
import { shellWord } from "../shell-word.ts";
import { bills, LISTED } from "./run-texts.ts";

/** What the service has scheduled from an account that is on hold. */
interface Scheduled {
  readonly recallable: {
    readonly bills: number;
    readonly totalCents: number;
    readonly earliestCutOffMs: number | null;
  };
  readonly underWay: { readonly bills: number };
  readonly lines: readonly {
    readonly plan: {
      readonly publicId: string | null;
      readonly payableId: string;
      readonly contactName: string | null;
    };
    readonly line: { readonly amountCents: number; readonly executionDate: string };
  }[];
}

/**
 * Lists what can be called back of an account, until when, and how; null if there is nothing, as a
 * hold is on the rest.
 *
 * @param isCancelled true if Payrun cancels it by itself
 */
export function scheduledText(
  sourceId: string,
  { recallable, underWay, lines }: Scheduled,
  { isCancelled, zone }: { readonly isCancelled: boolean; readonly zone?: string | undefined },
): string | null {
  const count = recallable.bills + underWay.bills;
  if (count === 0) return null;
  const { earliestCutOffMs: cutOffMs } = recallable;
  const until =
    cutOffMs === null ? "" : `; the first can be cancelled until ${spokenTime(cutOffMs, zone)}`;
  const listed = lines
    .slice(0, LISTED)
    .map(
      ({ plan, line }) =>
        `- ${plan.publicId ?? plan.payableId}, ${plan.contactName ?? "no name"}, ${formatUsd(line.amountCents)}, runs on ${line.executionDate}`,
    );
  const more = recallable.bills - listed.length;
  return [
    `The service has payments of ${bills(recallable.bills)} scheduled from it, ${formatUsd(recallable.totalCents)}${until}${listed.length === 0 ? "." : ":"}`,
    ...listed,
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...(underWay.bills > 0 ? [`Requests of ${bills(underWay.bills)} are under way.`] : []),
    isCancelled
      ? "Payrun cancels them. Their bills wait with the account; once it is released they go out again, under approvals that still hold."
      : `The hold doesn't call them back. To cancel them: ${callBackCommand(sourceId)}`,
  ].join("\n");
}

/** Says of a bill why it waits for the incident of its account, though it has not bounced. */
export const CALLED_BACK_TEXT =
  "Its payment was called back, because its funding account is on hold";

/** Returns the command that cancels what is scheduled from an account. */
export function callBackCommand(sourceId: string): string {
  return `payrun stop --source ${shellWord(sourceId)} --cancel-scheduled --reason "its payments came back"`;
}
