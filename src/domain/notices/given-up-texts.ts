import { formatUsd, sumCents } from "../money.ts";
import { bills, LISTED, type NoticeText } from "./run-texts.ts";

/** A bill that is given up. */
export interface GivenUp {
  readonly payableId: string;
  /** Its retry. */
  readonly workflowId: string;
  readonly amountCents: number;
  /** One sentence, without a full stop. */
  readonly why: string;
  /** Identifies the fact, so that it is reported once. */
  readonly factKey: string;
}

/** Notifies of bills that are given up together. */
export function givenUp(given: readonly GivenUp[]): NoticeText {
  const cents = formatUsd(sumCents(given.map(({ amountCents }) => amountCents)));
  const [first] = given;
  if (first !== undefined && given.length === 1) {
    return {
      subject: `${first.payableId} is given up: ${cents} stay unpaid`,
      text: `${first.why}\n\nIt is on hold. Release the hold, and the next run plans it again.`,
    };
  }
  const listed = given
    .slice(0, LISTED)
    .map(({ payableId, amountCents, why }) => `- ${payableId}, ${formatUsd(amountCents)}: ${why}`);
  const more = given.length - listed.length;
  return {
    subject: `${bills(given.length)} are given up: ${cents} stay unpaid`,
    text: [
      ...listed,
      ...(more > 0 ? [`- and ${more} more`] : []),
      "",
      "They are on hold. Release a hold, and the next run plans its bill again.",
    ].join("\n"),
  };
}
