import { formatUsd } from "../money.ts";
import { bills, type NoticeText, type RunName } from "./run-texts.ts";
import { LISTED } from "./run-texts.ts";

interface LateBill {
  readonly payableId: string;
  readonly amountCents: number;
  readonly state: string;
  readonly executionDate: string;
}

const STANDS: Readonly<Record<string, string>> = {
  scheduled: "still scheduled",
  held: "held by the service for review",
};

/** Notifies of payments that are late. */
export function lateAtBank(run: RunName, lines: readonly LateBill[]): NoticeText {
  const listed = lines
    .slice(0, LISTED)
    .map(
      ({ payableId, amountCents, state, executionDate }) =>
        `- ${payableId}, ${formatUsd(amountCents)}, due to run on ${executionDate}: ${STANDS[state] ?? "still under way"}`,
    );
  const more = lines.length - listed.length;
  const late =
    lines.length === 1
      ? "the payment of 1 bill is late"
      : `the payments of ${bills(lines.length)} are late`;
  return {
    subject: `${run.playbook} ${run.period}: ${late}`,
    text: [
      `Run ${run.runId} goes on waiting for:`,
      ...listed,
      ...(more > 0 ? [`- and ${more} more`] : []),
      "Ask the service why they are late. Payrun pays nothing again meanwhile.",
    ].join("\n"),
  };
}

/** Notifies that a bill has made no progress for an hour, with the reason. */
export function lineStuck(
  line: { readonly payableId: string; readonly amountCents: number },
  backOff: { readonly kind: "unknown" | "back"; readonly reason: string },
): NoticeText {
  const { payableId, amountCents } = line;
  const isOpen = backOff.kind === "unknown";
  const what = isOpen
    ? `It is not known whether ${payableId} is paid: no conclusive response for an hour`
    : `${payableId} is not paid yet: no progress for an hour`;
  const asked = isOpen
    ? "Payrun keeps checking until that is known, and sends nothing else for this bill. Ask the service about its key."
    : "Payrun tries again, less and less often. Fix the cause, or give the bill up: payrun resolve.";
  return {
    subject: what,
    text: [
      `A payment of ${formatUsd(amountCents)} for ${payableId} waits: ${backOff.reason}`,
      asked,
      `All requests and responses: payrun explain ${payableId}`,
    ].join("\n"),
  };
}
