import { formatUsd } from "../money.ts";
import { bills, type NoticeText, type RunName } from "./run-texts.ts";

interface LateBill {
  readonly payableId: string;
  readonly amountCents: number;
  readonly state: string;
  readonly executionDate: string;
}

/** How many bills a notice lists; the rest are counted. */
const LISTED = 10;

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
  const are = lines.length === 1 ? "is" : "are";
  return {
    subject: `${run.playbook} ${run.period}: payments for ${bills(lines.length)} ${are} late`,
    text: [
      `Run ${run.runId} goes on waiting for:`,
      ...listed,
      ...(more > 0 ? [`- and ${more} more`] : []),
      "Ask the service what holds them up. Nothing is paid again meanwhile.",
    ].join("\n"),
  };
}

/** Notifies that a bill has made no progress for an hour, with the reason. */
export function resting(
  line: { readonly payableId: string; readonly amountCents: number },
  rest: { readonly kind: "unknown" | "back"; readonly reason: string },
): NoticeText {
  const { payableId, amountCents } = line;
  const isOpen = rest.kind === "unknown";
  const what = isOpen
    ? `Whether ${payableId} is paid is not known: no clear answer for an hour`
    : `${payableId} is not paid yet: nothing has come of it for an hour`;
  const asked = isOpen
    ? "It is asked again and looked for until that is known; nothing else is sent for this bill. Ask the service about its key."
    : "It is tried again, ever more rarely. See to the cause, or give it up: payrun resolve.";
  return {
    subject: what,
    text: [
      `A payment of ${formatUsd(amountCents)} for ${payableId} waits: ${rest.reason}`,
      asked,
      `What was sent and answered: payrun explain ${payableId}`,
    ].join("\n"),
  };
}
