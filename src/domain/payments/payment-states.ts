import { formatUsd } from "../money.ts";
import { type Unreadable, unreadablePaymentText } from "../unreadable.ts";

/** Payment statuses of the API specification, section 3. */
const KNOWN_STATUSES = [
  "pending",
  "scheduled",
  "processing",
  "held",
  "completed",
  "failed",
  "returned",
  "cancelled",
  "refund_pending",
  "refunded",
] as const;
type KnownStatus = (typeof KNOWN_STATUSES)[number];

const UNPAID: ReadonlySet<string> = new Set(["failed", "returned", "cancelled", "refunded"]);

/** True if the payee certainly neither has this payment's money nor will get it. */
export function isKnownUnpaid(status: string): boolean {
  return UNPAID.has(status);
}

/** True until a payment has ended. Unknown statuses and pending refunds count as on their way. */
export function isOnItsWay(status: string): boolean {
  return status !== "completed" && !UNPAID.has(status);
}

/** True while the service has the payment and the bank doesn't yet: it may be called back. */
export function isRecallable(status: string): boolean {
  return status === "scheduled" || status === "held";
}

/** True if it was cancelled before the money moved, or its money was given back. */
export function isCalledBack(status: string): boolean {
  return isKnownUnpaid(status) && !hasFailed(status);
}

/** The fields of a payment that decide its line's state. */
export interface LinePayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly failureReason?: string | null | undefined;
  readonly unreadable?: Unreadable;
}

/** A line's state, as its payments show it. */
export type LineOutcome =
  | {
      readonly kind: "state";
      readonly state: "scheduled" | "processing" | "held" | "settled" | "cancelled" | "refunded";
      /** One sentence if the state alone doesn't say enough, else null. */
      readonly text: string | null;
    }
  /** At least one payment failed or was returned: the failure policy decides. */
  | {
      readonly kind: "failed";
      readonly reasons: readonly FailedPayment[];
      /** State of the line's other payments that have not ended yet; null if all have. */
      readonly others: "scheduled" | "processing" | "held" | null;
    }
  /**
   * All payments ended, none failed, and only a part of the amount is settled: a person must look.
   */
  | {
      readonly kind: "partial";
      readonly settledCents: number;
      readonly missingCents: number;
      readonly text: string;
    };

export interface FailedPayment {
  readonly paymentId: string;
  readonly status: "failed" | "returned";
  readonly amountCents: number;
  readonly failureReason: string | null;
}

/**
 * Derives a line's state from all its payments, splits included.
 *
 * @param payments those of the line's last attempt, without failures that were handled before
 * @param amountCents the line's amount
 */
export function lineStateOfPayments(
  payments: readonly LinePayment[],
  amountCents: number,
): LineOutcome {
  const reasons = payments.flatMap(failureOf);
  if (reasons.length > 0) {
    return { kind: "failed", reasons, others: wayOf(payments) };
  }
  const has = (status: KnownStatus) => payments.some((payment) => payment.status === status);
  if (has("held")) return { kind: "state", state: "held", text: "held by the service for review" };
  if (has("refund_pending")) {
    return { kind: "state", state: "held", text: "Cancelled; the money is on its way back." };
  }
  const state = wayOf(payments);
  if (state !== null) return { kind: "state", state, text: unreadableIn(payments) };
  const settledCents = payments
    .filter((payment) => payment.status === "completed")
    .reduce((sum, payment) => sum + payment.amountCents, 0);
  if (settledCents >= amountCents) return { kind: "state", state: "settled", text: null };
  if (settledCents === 0 && has("refunded"))
    return {
      kind: "state",
      state: "refunded",
      text: "Its payment was cancelled; the money is back.",
    };
  if (settledCents === 0 && has("cancelled")) {
    return { kind: "state", state: "cancelled", text: "Its payment was cancelled." };
  }
  const missingCents = amountCents - settledCents;
  const text =
    payments.length === 0
      ? "The service shows no payment for this line"
      : `Only a part, ${formatUsd(settledCents)}, has settled; ${formatUsd(missingCents)} has not, and nothing more is on its way`;
  return { kind: "partial", settledCents, missingCents, text };
}

function unreadableIn(payments: readonly LinePayment[]): string | null {
  for (const { id, unreadable } of payments) {
    if (unreadable !== undefined) return unreadablePaymentText(id, unreadable);
  }
  return null;
}

/** Returns the state of the payments that have not ended yet; null if all have. */
function wayOf(
  payments: readonly Pick<LinePayment, "status">[],
): "scheduled" | "processing" | "held" | null {
  const moving = payments.filter(({ status }) => isOnItsWay(status));
  if (moving.length === 0) return null;
  const isHeld = moving.some(({ status }) => status === "held" || status === "refund_pending");
  if (isHeld) return "held";
  return moving.every(({ status }) => status === "scheduled") ? "scheduled" : "processing";
}

/** True if the payment failed to reach the vendor, or has come back. */
export function hasFailed(status: string): status is FailedPayment["status"] {
  return status === "failed" || status === "returned";
}

function failureOf(payment: LinePayment): FailedPayment[] {
  const { status } = payment;
  if (!hasFailed(status)) return [];
  return [
    {
      paymentId: payment.id,
      status,
      amountCents: payment.amountCents,
      failureReason: payment.failureReason ?? null,
    },
  ];
}

/**
 * Transitions that no bank or service makes. They are accepted, since the service says so, but
 * raise an alarm.
 */
const IMPOSSIBLE: Readonly<Record<KnownStatus, readonly KnownStatus[]>> = {
  pending: [],
  scheduled: [],
  processing: ["pending", "scheduled"],
  held: [],
  completed: ["pending", "scheduled", "processing", "held", "cancelled"],
  failed: ["pending", "scheduled", "processing", "held", "completed", "cancelled"],
  returned: ["pending", "scheduled", "processing", "held", "completed", "cancelled"],
  cancelled: KNOWN_STATUSES.filter((status) => status !== "cancelled"),
  refund_pending: ["pending", "scheduled", "processing", "completed", "cancelled"],
  refunded: KNOWN_STATUSES.filter((status) => status !== "refunded"),
};

export interface PaymentVersion {
  readonly status: string;
  /** ISO instant of the last status update; null if the service doesn't say. */
  readonly updatedAt: string | null;
}

/**
 * Judges whether a new reading of a payment replaces the known one.
 *
 * Any different status that is not older does, even backwards (completed → returned), because banks
 * do that. `alarm` is a sentence if the transition is impossible, else null.
 */
export function judgeTransition(
  previous: PaymentVersion | undefined,
  next: PaymentVersion,
): { readonly accept: boolean; readonly alarm: string | null } {
  if (previous === undefined) return { accept: true, alarm: null };
  const laterMs = laterByMs(previous.updatedAt, next.updatedAt);
  if (laterMs < 0) return { accept: false, alarm: null };
  // The same status with a later instant is accepted, so that older ones stay ignored.
  if (previous.status === next.status) return { accept: laterMs > 0, alarm: null };
  const impossible =
    isKnownStatus(previous.status) &&
    isKnownStatus(next.status) &&
    IMPOSSIBLE[previous.status].includes(next.status);
  const alarm = impossible
    ? `a payment went from ${previous.status} to ${next.status}, which should be impossible`
    : null;
  return { accept: true, alarm };
}

/**
 * Returns by how much `next` is later. If either has no instant, returns 0, so that the new reading
 * counts as not older.
 */
function laterByMs(previous: string | null, next: string | null): number {
  const ms = Date.parse(next ?? "") - Date.parse(previous ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

function isKnownStatus(status: string): status is KnownStatus {
  return KNOWN_STATUSES.some((known) => known === status);
}
