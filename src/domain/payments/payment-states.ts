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

/** True where the payee certainly does not have, and will not get, this payment's money. */
export function isKnownUnpaid(status: string): boolean {
  return UNPAID.has(status);
}

/** True until a payment has ended; statuses we don't know, and refunds under way, count as on their way. */
export function isOnItsWay(status: string): boolean {
  return status !== "completed" && !UNPAID.has(status);
}

/** The fields of a payment that decide where its line stands. */
export interface LinePayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly failureReason?: string | null | undefined;
}

/** Where a line stands by its payments. */
export type LineOutcome =
  | {
      readonly kind: "state";
      readonly state: "scheduled" | "processing" | "held" | "settled" | "cancelled" | "refunded";
      /** One sentence where the state alone doesn't tell, else null. */
      readonly text: string | null;
    }
  /** At least one failed or was returned: the line's failure policy decides. */
  | {
      readonly kind: "failed";
      readonly reasons: readonly FailedPayment[];
      /** True where other payments of the line have not ended yet. */
      readonly othersOnTheirWay: boolean;
    }
  /** All ended, none failed, and only a part of the amount is settled: a person must look. */
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
 * Where a line stands by all payments made for it, splits included.
 *
 * @param payments those of the line's last attempt; a failure that was dealt with is not among them
 * @param amountCents what the line set out to pay
 */
export function lineStateOfPayments(
  payments: readonly LinePayment[],
  amountCents: number,
): LineOutcome {
  const reasons = payments.flatMap(failureOf);
  if (reasons.length > 0) {
    const othersOnTheirWay = payments.some((payment) => isOnItsWay(payment.status));
    return { kind: "failed", reasons, othersOnTheirWay };
  }
  const has = (status: KnownStatus) => payments.some((payment) => payment.status === status);
  if (has("held")) return { kind: "state", state: "held", text: "held by the service for review" };
  if (has("refund_pending")) {
    return { kind: "state", state: "held", text: "cancelled; the money is on its way back" };
  }
  const moving = payments.filter((payment) => isOnItsWay(payment.status));
  if (moving.length > 0) {
    const waiting = moving.every((payment) => payment.status === "scheduled");
    return { kind: "state", state: waiting ? "scheduled" : "processing", text: null };
  }
  const settledCents = payments
    .filter((payment) => payment.status === "completed")
    .reduce((sum, payment) => sum + payment.amountCents, 0);
  if (settledCents >= amountCents) return { kind: "state", state: "settled", text: null };
  if (settledCents === 0 && has("refunded"))
    return { kind: "state", state: "refunded", text: null };
  if (settledCents === 0 && has("cancelled")) {
    return { kind: "state", state: "cancelled", text: null };
  }
  const missingCents = amountCents - settledCents;
  const text =
    payments.length === 0
      ? "the service shows no payment for this line"
      : "only a part of the amount is settled and nothing more is on its way";
  return { kind: "partial", settledCents, missingCents, text };
}

function failureOf(payment: LinePayment): FailedPayment[] {
  if (payment.status !== "failed" && payment.status !== "returned") return [];
  return [
    {
      paymentId: payment.id,
      status: payment.status,
      amountCents: payment.amountCents,
      failureReason: payment.failureReason ?? null,
    },
  ];
}

/** Moves that no bank and no service makes: taken over, since the service says so, but with an alarm. */
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
  /** ISO instant of the most recent status update; null where the service does not say. */
  readonly updatedAt: string | null;
}

/**
 * Whether what was read now replaces what was known of a payment.
 *
 * Any state that is different and not older does, also backwards (completed → returned), because
 * banks make such moves. `alarm` is a sentence where the move is impossible, else null.
 */
export function judgeTransition(
  previous: PaymentVersion | undefined,
  next: PaymentVersion,
): { readonly accept: boolean; readonly alarm: string | null } {
  if (previous === undefined) return { accept: true, alarm: null };
  const laterMs = laterByMs(previous.updatedAt, next.updatedAt);
  if (laterMs < 0) return { accept: false, alarm: null };
  // The same status read later moves the instant on, so that what lies between stays ignored.
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

/** 0 where one of them has no instant: a reading made later then counts as not older. */
function laterByMs(previous: string | null, next: string | null): number {
  const ms = Date.parse(next ?? "") - Date.parse(previous ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

function isKnownStatus(status: string): status is KnownStatus {
  return KNOWN_STATUSES.some((known) => known === status);
}
