import type { CancellationState } from "../../contracts/cancellation.ts";
import { DAY_MS } from "../../contracts/durations.ts";
import { addBankingDays } from "../clock/bank-calendar.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { spokenDate } from "../clock/spoken.ts";
import { counted } from "../counted.ts";
import { formatUsd, sumCents } from "../money.ts";

/** States in which the money may go out, or has gone, so that a person should know. */
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
 * Reasons why a payment can't be cancelled any more, with what a person can still do if that
 * doesn't change with time. They name no payment, so that each can describe several.
 */
export const TOO_LATE = {
  atTheBank: `Already with the bank, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  settled: `Already settled, so the vendor has the money. ${ASK_THE_VENDOR}`,
  tooClose: `Too close to 9:00 New York on its date to be cancelled safely, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  severalScheduled: "The service cancels no payment of a bill that has several scheduled ones.",
} as const;

/** Returns the reason for a payment that has failed or come back by itself. */
export function nothingToCancel(status: string, why: string): string {
  return `Already ${status} (${why}), so there was nothing to cancel.`;
}

/** The outcome of a cancellation for one payment, or one bill. */
export interface EndedItem {
  /** Null for a bill. */
  readonly paymentId: string | null;
  readonly amountCents: number;
  readonly state: CancellationState;
  readonly reason: string | null;
  /** When the scheduled payment goes out; null if there is none, or if its day is not known. */
  readonly goesOutAtMs: number | null;
  /** When it ended; null if that is not known. */
  readonly cancelledAtMs: number | null;
  /** The payment's status at the service since then, if it is known. */
  readonly status?: string | undefined;
}

/** What people are shown about an item at some moment. */
interface Said {
  readonly reason: string | null;
  /** True while a person can do something about it. */
  readonly asks: boolean;
  /** The last day on which a person is asked to act; null if there is no known end. */
  readonly lastDay: string | null;
}

/**
 * Banking days for which a person is asked to get the money back. A bank takes a payment back
 * within this time of its settlement (Nacha), and a vendor hardly later.
 */
const ASKED_BANKING_DAYS = 5;

/** Longer than that many banking days, whatever holidays are among them. */
const ASKED_DAYS_MOST = 3 * ASKED_BANKING_DAYS;

/**
 * Returns the instant before which money must have gone out for no person to be asked about it any
 * more.
 */
export function askedSinceMs(businessMs: number): number {
  return businessMs - ASKED_DAYS_MOST * DAY_MS;
}

/** The vendor has the money, or gets it. */
const OUT: ReadonlySet<string> = new Set(["processing", "completed"]);

/** The vendor doesn't have the money. */
const NOT_WITH_VENDOR: ReadonlySet<string> = new Set([
  "cancelled",
  "refund_pending",
  "refunded",
  "failed",
  "returned",
]);

/** Reasons that may become untrue by what happens to the payment later. */
const OF_THEN: ReadonlySet<string | null> = new Set(Object.values(TOO_LATE));

/**
 * Returns what people are shown about an item now. It differs before and after the money went out.
 */
export function saidNow(item: EndedItem, businessMs: number): Said {
  const { state, reason, goesOutAtMs, status = "", cancelledAtMs } = item;
  if (!isNotCancelled(state)) return { reason, asks: false, lastDay: null };
  const isScheduled = goesOutAtMs !== null || state === "several-scheduled";
  if ((isScheduled || OF_THEN.has(reason)) && NOT_WITH_VENDOR.has(status)) {
    const since = `Not cancelled here, and ${status.replace("_", " ")} since: the vendor doesn’t have the money.`;
    return { reason: since, asks: false, lastDay: null };
  }
  const isHeld = status === "held";
  const isPast = goesOutAtMs !== null && businessMs >= goesOutAtMs && !isHeld;
  const isOut = !isScheduled || isPast || OUT.has(status);
  const outAtMs = goesOutAtMs ?? (isOut ? cancelledAtMs : null);
  const isOpen = state === "unknown" && !OUT.has(status);
  const isEndless = isOpen || isHeld || outAtMs === null;
  const lastDay = isEndless ? null : addBankingDays(newYorkDate(outAtMs), ASKED_BANKING_DAYS);
  const asks = lastDay === null || newYorkDate(businessMs) <= lastDay;
  return { reason: textNow(item, isOut), asks, lastDay };
}

function textNow(item: EndedItem, isOut: boolean): string | null {
  const { paymentId, state, reason, goesOutAtMs, status } = item;
  const day = goesOutAtMs === null ? null : spokenDate(newYorkDate(goesOutAtMs));
  const out = `The money ${day === null ? "has gone out" : `went out on ${day}`}. ${ASK_THE_VENDOR}`;
  if (state === "several-scheduled") {
    return `${TOO_LATE.severalScheduled} ${isOut ? out : stillIn(status === "held" ? null : day)}`;
  }
  // If the service already had a bill's payment, the stored reason says that it can be cancelled.
  // That is true only until the money goes out.
  const isOfBill = paymentId === null && goesOutAtMs !== null;
  return isOfBill && isOut ? out : reason;
}

function stillIn(day: string | null): string {
  return day === null
    ? "The money has not gone out: ask the service's support to stop it or, once it has gone out, the vendor to return it."
    : `The money goes out on ${day}: ask the service's support to stop it before then, or the vendor to return it.`;
}

/** How many reasons are spelled out; the items of all further ones are only counted. */
const MOST_REASONS = 3;

/** Says for whom held-back bills wait: `controller to release 2 held-back bills`. */
export function releaseText(releasedBy: readonly string[], bills: number): string {
  return `${releasedBy.join(" or ")} to release ${counted(bills, "held-back bill")}`;
}

/**
 * True if a cancellation waits for a person: it holds bills back, or has left something to people at
 * its end.
 */
export function cancellationAsksPerson(of: {
  /** Bills that it holds back. */
  readonly withheld: number;
  readonly ended: boolean;
  readonly waitingFor: string | null;
}): boolean {
  return of.withheld > 0 || (of.ended && of.waitingFor !== null);
}

/**
 * Says what a cancellation that has ended leaves to a person now, and until when. Null if it leaves
 * nothing, or nothing any more.
 *
 * @param releasedBy roles that release the bills that it holds back; empty if it holds none back
 */
export function leftToPeople(
  items: readonly EndedItem[],
  businessMs: number,
  releasedBy: readonly string[] = [],
): string | null {
  // The time to release them for their date is over, but they stay on hold.
  const kept = releasedBy.length === 0 ? [] : items.filter(({ state }) => state === "withheld");
  const toRelease =
    kept.length === 0
      ? []
      : [`${releaseText(releasedBy, kept.length)}, ${sumOf(kept)}, not paid until then`];
  const left = items
    .map((item) => ({ ...item, ...saidNow(item, businessMs) }))
    .filter(({ asks }) => asks);
  const texts = [...toRelease, ...(left.length === 0 ? [] : [leftText(left)])];
  return texts.length === 0 ? null : texts.join("; and ");
}

function leftText(left: readonly (EndedItem & Said)[]): string {
  const byReason = [...Map.groupBy(left, ({ state, reason }) => reason ?? state)];
  const told = byReason
    .slice(0, MOST_REASONS)
    .map(([reason, of]) => `${counted(of.length, nounOf(of))} of ${sumOf(of)}: ${reason}`);
  const others = byReason.slice(MOST_REASONS).flatMap(([, of]) => of);
  const more = others.length === 0 ? [] : [`${others.length} more of ${sumOf(others)}.`];
  return `a person, about ${[...told, ...more].join(" And ")}${untilText(left)}`;
}

function untilText(left: readonly Said[]): string {
  const days = left.flatMap(({ lastDay }) => lastDay ?? []);
  const last = days.toSorted((one, other) => one.localeCompare(other)).at(-1);
  // If an item has no known end, a person is asked without end, so the text names no last day.
  if (last === undefined || days.length < left.length) return "";
  return ` This is asked until ${spokenDate(last)}.`;
}

function nounOf(items: readonly Pick<EndedItem, "paymentId">[]): string {
  return items.every(({ paymentId }) => paymentId === null) ? "bill" : "payment";
}

function sumOf(items: readonly Pick<EndedItem, "amountCents">[]): string {
  return formatUsd(sumCents(items.map(({ amountCents }) => amountCents)));
}
