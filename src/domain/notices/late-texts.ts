import { formatUsd } from "../money.ts";
import { bills, type NoticeText, type RunName } from "./run-texts.ts";

interface LateBill {
  readonly payableId: string;
  readonly amountCents: number;
  readonly state: string;
  readonly executionDate: string;
}

/** Bills that one notice lists; more are counted. */
const LISTED = 10;

const STANDS: Readonly<Record<string, string>> = {
  scheduled: "still scheduled",
  held: "held by the service for review",
};

/** Payments that should have moved on by now. */
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

/** A request that was sent long ago, and of which nobody can say whether it paid. */
export function unanswered(attempt: {
  readonly subject: string;
  readonly amountCents: number;
  readonly idempotencyKey: string;
}): NoticeText {
  const { subject, amountCents, idempotencyKey } = attempt;
  return {
    subject: `Whether ${subject} is paid is not known: no clear answer for an hour`,
    text: [
      `A payment of ${formatUsd(amountCents)} for ${subject} was sent under the key ${idempotencyKey}, and the service has not said what it did.`,
      "It is asked again and looked for until it says so; nothing else is sent for this bill. Ask the service about the key.",
      `What was sent and answered: payrun explain ${subject}`,
    ].join("\n"),
  };
}
