import type { BankReturnCode, LineReason } from "../../contracts/reason-codes.ts";
import { addDays } from "../clock/dates.ts";
import { formatUsd } from "../money.ts";
import { isReinitiable, REINITIATION_DAYS, REINITIATIONS_MAX } from "../payments/return-codes.ts";

/** The failures of one approved line, and when it would be paid again. */
export interface ReturnedLine {
  /** Return codes of all its failed and returned payments; null for a failure without one. */
  readonly codes: readonly (BankReturnCode | null)[];
  readonly retriesMade: number;
  /** `YYYY-MM-DD` in New York: the earliest day on which its first payment can have settled. */
  readonly firstSettledOn: string;
  /** `YYYY-MM-DD`: execution date of the next payment. */
  readonly runsOn: string;
}

/** Why an approval covers no further payment. */
export interface ApprovalEnd {
  /** Reason code of the line. */
  readonly code: LineReason;
  readonly reason: string;
}

/** The text for an approval that has expired, or whose plan has changed. */
export const NO_APPROVAL = "It has no valid approval any more.";

/** Says why an approval covers nothing more of a bill that is paid in part. */
export function partOwedText(openCents: number): string {
  return `${formatUsd(openCents)} of it is still owed, which is not the amount that was approved.`;
}

/**
 * Says why a line's approval covers no further payment; null while it does.
 *
 * It covers what Nacha allows to be reinitiated and nothing else. Any payment beyond that is a new
 * one and needs a new approval.
 */
export function approvalEnd(line: ReturnedLine): ApprovalEnd | null {
  const { codes, retriesMade } = line;
  if (codes.length === 0) return null;
  const ending = codes.find((code) => !isReinitiable(code));
  if (ending === null) {
    const reason =
      "The failure has no return code that Nacha allows to be retried, which ends its approval.";
    return { code: "unknown_reason", reason };
  }
  if (ending !== undefined) {
    const reason = `${ending} ends its approval: Nacha allows only R01 and R09 to be retried.`;
    return { code: ending, reason };
  }
  if (retriesMade >= REINITIATIONS_MAX) {
    const reason = `Retried ${retriesMade} times under its approval, which is all that Nacha's rules allow.`;
    return { code: USED_UP, reason };
  }
  return isTooLate(line) ? { code: USED_UP, reason: TOO_LATE } : null;
}

const USED_UP = "retries_used_up" satisfies LineReason;

const TOO_LATE = `Nacha's rules end reinitiations ${REINITIATION_DAYS} days after the settlement of the first payment.`;

function isTooLate({ firstSettledOn, runsOn }: ReturnedLine): boolean {
  return runsOn > addDays(firstSettledOn, REINITIATION_DAYS);
}

/**
 * Says what happens to a bill that a person wants retried and that isn't retried now, because its
 * approval has ended or a hold applies to it. Undefined if it is retried now.
 */
export function notTriedNowText({
  approvalEnded,
  onHold,
}: {
  readonly approvalEnded?: string | undefined;
  readonly onHold?: readonly string[] | undefined;
}): string | undefined {
  if (approvalEnded !== undefined) return leftToNextRunText({ approvalEnded, onHold });
  if (onHold === undefined) return undefined;
  return `tried again once no hold applies to it. ${onHold.join(" ")}`;
}

/** Says what happens to a bill that a person wants retried, and whose approval has ended. */
function leftToNextRunText(of: {
  /** Why it is not paid under its approval. */
  readonly approvalEnded: string;
  /** The holds that apply to it as well, if any. */
  readonly onHold?: readonly string[] | undefined;
}): string {
  const { approvalEnded, onHold = [] } = of;
  return [`${approvalEnded} It is not tried again: ${NEXT_RUN_ASKS}.`, ...onHold].join(" ");
}

/** What happens to a bill that was given back. */
export const NEXT_RUN_ASKS = "the next run plans it and asks for a new approval";
