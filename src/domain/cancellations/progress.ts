import { inMarkdown, inMarkdownCode } from "../others-text.ts";
import type {
  CancellationAssessment,
  CancellationPhase,
  CancellationState,
} from "../../contracts/cancellation.ts";
import type { Clock } from "../clock/clock.ts";
import { counted } from "../counted.ts";
import { formatUsd } from "../money.ts";
import {
  cancellationAsksPerson,
  isNotCancelled,
  leftToPeople,
  releaseText,
} from "./left-to-people.ts";
import { soonestSleepMs, untilNextMs } from "../sleeps.ts";

export interface CancellationView {
  readonly business: string;
  readonly playbook: string;
  readonly requestedBy: string;
  readonly chosen: boolean;
  /** What the choice waits for, such as a run without a plan; null if nothing. */
  readonly choiceWaitsFor: string | null;
  /** True if bills of a run are held back, false if payments are cancelled. */
  readonly holdsBack: boolean;
  readonly releasedBy: readonly string[];
  readonly items: readonly ProgressItem[];
  /** Waits of the whole business: nothing is sent before `retryAtMs` on the service's clock. */
  readonly waits: readonly { readonly message: string; readonly retryAtMs: number }[];
  readonly clock: Clock & { readonly serviceMs: number };
}

export interface ProgressItem {
  readonly paymentId: string | null;
  readonly payableId: string | null;
  readonly amountCents: number;
  readonly state: CancellationState;
  readonly open: boolean;
  readonly reason: string | null;
  readonly releaseByMs: number | null;
  readonly goesOutAtMs: number | null;
  readonly cancelledAtMs: number | null;
  readonly notBeforeMs: number;
  readonly pollAtMs: number;
  /** Real instant of its last look, or of its end. */
  readonly updatedAtMs: number;
}

/** Says where a cancellation stands and what to do next, from the store alone. */
export function judgeCancellation(view: CancellationView): CancellationAssessment {
  const { clock } = view;
  const lastEndMs = Math.max(
    0,
    ...view.items.filter((item) => !item.open).map(({ updatedAtMs }) => updatedAtMs),
  );
  const now = { serviceMs: clock.serviceMs, lastEndMs };
  const items = view.items.map((item) => ({ ...item, reason: standingReason(item, now) }));
  const open = items.filter((item) => item.open);
  const blockedMs = Math.max(0, ...view.waits.map((wait) => wait.retryAtMs - clock.serviceMs));
  const asked = open.filter(({ state }) => state === "unknown");
  const returning = open.filter(({ state }) => state === "refund_pending");
  const withheld = open.filter(({ state }) => state === "withheld");
  const isFree = blockedMs <= 0;
  const toCancel = asked.filter(
    ({ notBeforeMs }) => !view.holdsBack && notBeforeMs <= clock.serviceMs,
  );
  const toFollow = returning.filter(({ pollAtMs }) => pollAtMs <= clock.businessMs);
  const ended = view.chosen && open.length === 0;
  const exceptions = items.filter(({ state }) => isNotCancelled(state)).length;
  const phase = phaseOf(view, { asked, returning, ended, exceptions });
  const waitingFor = ended
    ? leftToPeople(items, clock.businessMs, view.releasedBy)
    : waitingForOf(view, { asked, returning, withheld });
  return {
    phase,
    ended,
    waitingFor,
    soFar: soFarOf(items),
    business: view.business,
    playbook: view.playbook,
    toChoose: !view.chosen && view.choiceWaitsFor === null && isFree,
    toCancel: isFree ? toCancel.length : 0,
    toFollow: isFree ? toFollow.length : 0,
    needsAction: cancellationAsksPerson({ withheld: withheld.length, ended, waitingFor }),
    exceptions,
    totalCents: items.reduce((sum, { amountCents }) => sum + amountCents, 0),
    wakeInMs: wakeInMs(view, { asked, returning, withheld, blockedMs }),
    details: detailsOf(view, waitingFor),
  };
}

function phaseOf(
  view: CancellationView,
  now: {
    readonly asked: readonly ProgressItem[];
    readonly returning: readonly ProgressItem[];
    readonly ended: boolean;
    readonly exceptions: number;
  },
): CancellationPhase {
  if (!view.chosen) return "choosing";
  if (now.ended) return now.exceptions > 0 ? "completed-with-exceptions" : "completed";
  if (now.asked.length > 0) return "cancelling";
  return now.returning.length > 0 ? "following" : "withholding";
}

interface Open {
  readonly asked: readonly ProgressItem[];
  readonly returning: readonly ProgressItem[];
  readonly withheld: readonly ProgressItem[];
}

function waitingForOf(view: CancellationView, { asked, returning, withheld }: Open): string {
  const [wait] = view.waits;
  if (wait !== undefined) return wait.message;
  if (!view.chosen) return view.choiceWaitsFor ?? "chooses the payments";
  const toCancel = asked.filter(({ paymentId }) => paymentId !== null);
  const underWay = asked.filter(({ paymentId }) => paymentId === null);
  const parts = [
    ...(toCancel.length > 0
      ? [
          `${counted(toCancel.length, "payment")} to be cancelled${afterColon(sharedReason(toCancel))}`,
        ]
      : []),
    ...(underWay.length > 0
      ? [`the result of ${counted(underWay.length, "request")} under way`]
      : []),
    ...(returning.length > 0
      ? [`the money of ${counted(returning.length, "payment")} to come back`]
      : []),
    ...(withheld.length > 0 ? [releaseText(view.releasedBy, withheld.length)] : []),
  ];
  return parts.join("; ");
}

/**
 * Returns the reason that still applies to an item. If the item is due to be tried again, and
 * another one has ended since its last look, its stored reason is over and the result is null.
 */
export function standingReason(
  {
    state,
    open,
    reason,
    notBeforeMs,
    updatedAtMs,
  }: Pick<ProgressItem, "state" | "open" | "reason" | "notBeforeMs" | "updatedAtMs">,
  now: { readonly serviceMs: number; readonly lastEndMs: number },
): string | null {
  const isDue = open && state === "unknown" && notBeforeMs <= now.serviceMs;
  return isDue && updatedAtMs < now.lastEndMs ? null : reason;
}

/** Returns the reason that holds for all of these items; null if they don't share one. */
export function sharedReason(items: readonly { readonly reason: string | null }[]): string | null {
  const [first, ...others] = new Set(items.map(({ reason }) => reason));
  return others.length === 0 ? (first ?? null) : null;
}

function afterColon(reason: string | null): string {
  return reason === null ? "" : `: ${reason.replace(/\.$/, "")}`;
}

function wakeInMs(
  { clock }: CancellationView,
  { asked, returning, withheld, blockedMs }: Open & { readonly blockedMs: number },
): number {
  const polls = returning.map(({ pollAtMs }) => clock.realMsUntil(pollAtMs));
  const sends = asked.map(({ notBeforeMs }) => notBeforeMs - clock.serviceMs);
  // Nothing is sent or read before a business-wide wait ends.
  const sleepsMs = [...polls, ...sends].map((ms) => Math.max(ms, blockedMs));
  // A bill can be released until the end of its release time.
  const ends = withheld.map(({ releaseByMs }) => (releaseByMs === null ? null : releaseByMs + 1));
  return soonestSleepMs(
    ...sleepsMs,
    untilNextMs(ends, clock),
    blockedMs > 0 ? blockedMs : Infinity,
  );
}

const MOST_SHOWN = 50;

function detailsOf(view: CancellationView, waitingFor: string | null): string {
  const rows = view.items
    .slice(0, MOST_SHOWN)
    .map(
      ({ paymentId, payableId, amountCents, state }) =>
        `| \`${inMarkdownCode(paymentId ?? payableId ?? "")}\` | ${formatUsd(amountCents)} | ${state} |`,
    );
  return [
    `Requested by ${inMarkdown(view.requestedBy)}.`,
    ...(waitingFor === null ? [] : ["", `Waits for: **${inMarkdown(waitingFor)}**`]),
    ...(rows.length === 0
      ? []
      : ["", "| Payment or bill | Amount | State |", "|---|---:|---|", ...rows]),
    ...(view.items.length > MOST_SHOWN ? ["", `and ${view.items.length - MOST_SHOWN} more.`] : []),
  ].join("\n");
}

/** Counts the finished items by state. */
function soFarOf(items: readonly ProgressItem[]): string {
  const done = Map.groupBy(
    items.filter(({ open }) => !open),
    ({ state }) => state,
  );
  return [...done].map(([state, { length }]) => `${length} ${state}`).join(", ");
}
