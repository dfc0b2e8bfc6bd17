import { isKnownUnpaid } from "../../domain/payments/payment-states.ts";
import type { AttemptView } from "../../ledger/attempts.ts";
import type { Payment } from "../../payments-api/index.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import type { SeenPayment } from "../../store/payables/seen-payments.ts";
import type { ServicePayments } from "./service-payments.ts";

/** A payment that Payrun made, as the service says it now, or as Payrun saw it last. */
export interface MadePayment {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
  readonly failureReason: string | null;
  /** Null if nobody has looked since its request was answered. */
  readonly seenAt: string | null;
  /** Number of the request that made it. */
  readonly seq: number;
  /** True if it was seen completed at some time. */
  readonly hadSettled: boolean;
}

type Noted = Pick<MadePayment, "id" | "amountCents" | "status" | "seenAt">;

/**
 * The payments that the bill's requests made, as the service shows them now. What it doesn't show
 * stands as Payrun saw it last.
 *
 * @param trail entries about the bill and about its payments, in order
 */
export function paymentsIn(
  trail: readonly AuditEntry[],
  attempts: readonly Pick<AttemptView, "seq" | "paymentIds" | "amountCents">[],
  read: {
    /** What was last taken over of them, by id. */
    readonly seen?: ReadonlyMap<string, SeenPayment>;
    readonly shown?: ServicePayments | undefined;
  } = {},
): MadePayment[] {
  const { noted, settled } = notedPayments(trail);
  const now = new Map(read.shown?.payments.map((payment) => [payment.id, payment]));
  return attempts.flatMap(({ seq, paymentIds, amountCents }) =>
    paymentIds.map((id) => {
      const whole = paymentIds.length === 1 ? (amountCents ?? 0) : 0;
      const known = noted.get(id) ?? { id, amountCents: whole, status: "unknown", seenAt: null };
      const taken = read.seen?.get(id);
      const hadSettled = settled.has(id) || taken?.status === "completed";
      const payment = now.get(id);
      if (payment !== undefined) {
        const { status, amountCents: cents, failureReason } = payment;
        const seenAt = read.shown?.at ?? null;
        return { id, amountCents: cents, status, failureReason, seenAt, seq, hadSettled };
      }
      const last = taken === undefined || isKnownUnpaid(known.status) ? known : taken;
      const { status, amountCents: cents } = last;
      const { seenAt } = known;
      return { id, amountCents: cents, status, failureReason: null, seenAt, seq, hadSettled };
    }),
  );
}

/** What the trail last says of each payment, and which it has seen completed. */
function notedPayments(trail: readonly AuditEntry[]): {
  readonly noted: ReadonlyMap<string, Noted>;
  readonly settled: ReadonlySet<string>;
} {
  const noted = new Map<string, Noted>();
  const settled = new Set<string>();
  for (const { atMs, action, subject, details } of trail) {
    const seenAt = new Date(atMs).toISOString();
    const became = STATUS_AFTER[action];
    const cancelled = noted.get(subject);
    if (cancelled !== undefined && became !== undefined) {
      noted.set(subject, { ...cancelled, status: became, seenAt });
    }
    for (const payment of [...notedIn(details["payments"]), ...notedIn(details["found"])]) {
      if (payment.status === "completed") settled.add(payment.id);
      noted.set(payment.id, { ...payment, seenAt });
    }
  }
  return { noted, settled };
}

/** What a cancellation's entry about a payment says of its status. */
const STATUS_AFTER: Readonly<Record<string, string>> = {
  "cancel-payment:cancelled": "cancelled",
  "cancel-payment:refund_pending": "refund_pending",
  "cancel-payment:refunded": "refunded",
};

/** A payment of the bill that the service shows and none of its requests is known to have made. */
export interface ExternalPayment extends Pick<
  Payment,
  "id" | "amountCents" | "status" | "failureReason"
> {
  /** True where the store has lost something since, so that Payrun may have made it. */
  readonly mayBeOurs: boolean;
}

/** @param isForgotten whether the store may have forgotten that Payrun made it */
export function externalIn(
  shown: readonly Payment[] = [],
  ours: readonly { readonly id: string }[],
  isForgotten: (payment: Payment) => boolean,
): ExternalPayment[] {
  const known = new Set(ours.map(({ id }) => id));
  return shown
    .filter(({ id }) => !known.has(id))
    .map((payment) => {
      const { id, amountCents, status, failureReason } = payment;
      return { id, amountCents, status, failureReason, mayBeOurs: isForgotten(payment) };
    });
}

/** The payments that an entry of the trail names. */
export function notedIn(value: unknown) {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    if (!("id" in item && "amountCents" in item && "status" in item)) return [];
    const { id, amountCents, status } = item;
    return [{ id: String(id), amountCents: Number(amountCents), status: String(status) }];
  });
}
