import type { CancellationState } from "../../contracts/cancellation.ts";
import { counted } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";

/** States in which the money may go out, or has gone: a person should know. */
const NOT_CANCELLED: ReadonlySet<CancellationState> = new Set([
  "too-late",
  "several-scheduled",
  "unknown",
]);

export function isNotCancelled(state: CancellationState): boolean {
  return NOT_CANCELLED.has(state);
}

const ASK_THE_VENDOR = "To have the money back, ask the vendor to return it.";

/**
 * Why nothing takes a payment back any more, and what a person can still do. They name no payment,
 * so that each can be said of several.
 */
export const TOO_LATE = {
  atTheBank: `Already with the bank, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  settled: `Already settled, so the vendor has the money. ${ASK_THE_VENDOR}`,
  tooClose: `Too close to 9:00 New York on its date to be cancelled safely, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  severalScheduled:
    "Of a bill with several scheduled payments the service cancels none, so the money goes out on its date. Ask whoever runs the service to stop it before then, or the vendor to return it.",
} as const;

/** Said of a payment that has failed or come back by itself. */
export function nothingToCancel(status: string, why: string): string {
  return `Already ${status} (${why}), so there was nothing to cancel.`;
}

interface EndedItem {
  /** Null for a bill. */
  readonly paymentId: string | null;
  readonly amountCents: number;
  readonly state: CancellationState;
  readonly reason: string | null;
}

/** Reasons that are said one after the other; the payments of all others are counted. */
const MOST_REASONS = 3;

/** What a cancellation that has ended leaves to a person; null where it leaves nothing. */
export function leftToPeople(items: readonly EndedItem[]): string | null {
  const left = items.filter(({ state }) => isNotCancelled(state));
  if (left.length === 0) return null;
  const byReason = [...Map.groupBy(left, ({ state, reason }) => reason ?? state)];
  const told = byReason
    .slice(0, MOST_REASONS)
    .map(([reason, of]) => `${counted(of.length, nounOf(of))} of ${sumOf(of)}: ${reason}`);
  const others = byReason.slice(MOST_REASONS).flatMap(([, of]) => of);
  const more = others.length === 0 ? [] : [`${others.length} more of ${sumOf(others)}.`];
  return `a person, about ${[...told, ...more].join(" And ")}`;
}

function nounOf(items: readonly EndedItem[]): string {
  return items.every(({ paymentId }) => paymentId === null) ? "bill" : "payment";
}

function sumOf(items: readonly EndedItem[]): string {
  return formatUsd(sumCents(items.map(({ amountCents }) => amountCents)));
}
