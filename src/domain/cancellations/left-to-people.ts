import type { CancellationState } from "../../contracts/cancellation.ts";
import { addBankingDays } from "../clock/bank-calendar.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { spokenDate } from "../clock/spoken.ts";
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
 * Why nothing takes a payment back any more, and what a person can still do where that doesn't
 * change with time. They name no payment, so that each can be said of several.
 */
export const TOO_LATE = {
  atTheBank: `Already with the bank, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  settled: `Already settled, so the vendor has the money. ${ASK_THE_VENDOR}`,
  tooClose: `Too close to 9:00 New York on its date to be cancelled safely, so the money arrives at the vendor. ${ASK_THE_VENDOR}`,
  severalScheduled: "Of a bill with several scheduled payments the service cancels none.",
} as const;

/** Said of a payment that has failed or come back by itself. */
export function nothingToCancel(status: string, why: string): string {
  return `Already ${status} (${why}), so there was nothing to cancel.`;
}

/** What a cancellation has come to for one payment, or one bill. */
export interface EndedItem {
  /** Null for a bill. */
  readonly paymentId: string | null;
  readonly amountCents: number;
  readonly state: CancellationState;
  readonly reason: string | null;
  /** When what is scheduled goes out; null where nothing is, or its day is not known. */
  readonly goesOutAtMs: number | null;
  /** When it ended; null where that is not known. */
  readonly cancelledAtMs: number | null;
  /** The service's word for the payment since then, where it is known. */
  readonly status?: string | undefined;
}

/** What is said of an item at some moment. */
interface Said {
  readonly reason: string | null;
  /** True while a person can do something about it. */
  readonly asks: boolean;
  /** The last day on which it asks; null where that has no end that is known. */
  readonly lastDay: string | null;
}

/** A bank takes a payment back within this time of its settlement (Nacha), a vendor hardly later. */
const ASKED_BANKING_DAYS = 5;

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

/** Reasons that the payment's later fate may make untrue. */
const OF_THEN: ReadonlySet<string | null> = new Set(Object.values(TOO_LATE));

/** What is said of an item now: before and after its money went out that is not the same. */
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
  // Of a bill that the service had already, its payment could be cancelled until then.
  const isOfBill = paymentId === null && goesOutAtMs !== null;
  return isOfBill && isOut ? out : reason;
}

function stillIn(day: string | null): string {
  return day === null
    ? "The money has not gone out: ask whoever runs the service to stop it, or once it has, the vendor to return it."
    : `The money goes out on ${day}: ask whoever runs the service to stop it before then, or the vendor to return it.`;
}

/** Reasons that are said one after the other; the payments of all others are counted. */
const MOST_REASONS = 3;

/** Whom bills that are held back wait for. */
export function releaseText(releasedBy: readonly string[], bills: number): string {
  return `${releasedBy.join(" or ")} to release ${counted(bills, "withheld bill")}`;
}

/**
 * What a cancellation that has ended leaves to a person now, and until when; null where it leaves
 * nothing, or nothing any more.
 *
 * @param releasedBy roles that release bills which it holds back; empty where it holds none back
 */
export function leftToPeople(
  items: readonly EndedItem[],
  businessMs: number,
  releasedBy: readonly string[] = [],
): string | null {
  // Their time to be released for their date is over; they stay on hold all the same.
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
  // What has no end is asked on.
  if (last === undefined || days.length < left.length) return "";
  return ` This is asked until ${spokenDate(last)}.`;
}

function nounOf(items: readonly Pick<EndedItem, "paymentId">[]): string {
  return items.every(({ paymentId }) => paymentId === null) ? "bill" : "payment";
}

function sumOf(items: readonly Pick<EndedItem, "amountCents">[]): string {
  return formatUsd(sumCents(items.map(({ amountCents }) => amountCents)));
}
