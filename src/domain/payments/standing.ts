import { withFullStop } from "../history-texts.ts";
import type { LineState } from "../../contracts/line-states.ts";

/** The standing of a bill that no payment pays. */
export interface Standing {
  /** State of the bill's current line; null if no run has planned it. */
  readonly state: LineState | null;
  readonly reasonCode?: string | null | undefined;
  /** Why the line is in that state, if that is recorded. */
  readonly reason?: string | null | undefined;
  /** Why the last run that left it out did so; null if none has. */
  readonly leftOut?: string | null | undefined;
  /** True if no run owns the bill any more, so that the next run plans it anew. */
  readonly isGivenBack?: boolean | undefined;
  /** The person who ended it; null if no person did. */
  readonly resolvedBy?: string | null | undefined;
}

/** Says what a bill waits for, or how it ended without a payment: a sentence, or nothing. */
export function standingText(standing: Standing): string {
  const { state, reasonCode, reason, leftOut, isGivenBack, resolvedBy } = standing;
  if (state === null)
    return leftOut == null || leftOut === ""
      ? " No run has planned it."
      : ` No run has planned it. The last one left it out: ${withFullStop(leftOut)}`;
  if (state === "skipped") return reason == null ? "" : ` ${withFullStop(reason)}`;
  const ofCode = reasonCode == null ? undefined : OF_CODE[reasonCode];
  // A line whose payment was cancelled has none of these codes: no person took it out of its run.
  if (state === "cancelled") {
    if (ofCode === undefined) return "";
    return reason?.startsWith(ofCode) === true
      ? ` ${withFullStop(reason)}`
      : ` ${ofCode}${because(reason)}`;
  }
  if (state === "on-hold" && reason != null && /^on hold/i.test(reason))
    return ` ${withFullStop(reason)}`;
  if (state === "given-up" && resolvedBy != null)
    return ` ${resolvedBy} has given it up${because(reason)}`;
  if (state === "parked" && isGivenBack === true)
    return ` It was given back, and waits for the next run${because(reason)}`;
  const text = OF_STATE[state];
  return text === undefined ? "" : ` ${text}${because(reason)}`;
}

const RUN_REJECTED = "Its run was rejected";

const OF_CODE: Readonly<Record<string, string>> = {
  dropped: "It was taken out of its run",
  run_cancelled: "Its run was cancelled before it was sent",
  rejected: RUN_REJECTED,
};

/** Says who rejected a bill's run, and why: `Its run was rejected by cora: wrong week.` */
export function rejectedText({
  principal,
  comment,
}: {
  readonly principal: string;
  readonly comment: string | null;
}): string {
  return `${RUN_REJECTED} by ${principal}${because(comment)}`;
}

/** Texts for the states that say more than that no payment pays the bill. */
const OF_STATE: Readonly<Partial<Record<LineState, string>>> = {
  planned: "It is approved and has not been sent yet",
  "awaiting-approval": "It waits for approval",
  "on-hold": "It is on hold",
  paying: "It is being sent",
  unknown: "Payrun is finding out what became of it",
  retrying: "It is to be tried again",
  parked: "It waits for a person",
  "given-up": "It was given up",
};

function because(reason: string | null | undefined): string {
  return reason == null || reason === "" ? "." : `: ${withFullStop(reason)}`;
}
