import { isKnownUnpaid } from "../../domain/payments/payment-states.ts";
import type { AttemptView } from "../../ledger/attempts.ts";
import type { Payment } from "../../payments-api/index.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import type { SeenPayment } from "../../store/payables/seen-payments.ts";
import type { PaymentsRead } from "./service-payments.ts";

/** A payment that Payrun made, as the service shows it now, or as Payrun last saw it. */
export interface PaymentInHistory {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
  readonly failureReason: string | null;
  /** Null if it has not been read since its request was answered. */
  readonly seenAt: string | null;
  /** Number of the request that made it. */
  readonly seq: number;
  /** True if it was seen completed at some time. */
  readonly hadSettled: boolean;
}

type Noted = Pick<PaymentInHistory, "id" | "amountCents" | "status" | "seenAt">;

/**
 * Returns the payments that the bill's requests made, as the service shows them now. A payment that
 * the service doesn't show is returned as Payrun last saw it.
 *
 * @param trail entries about the bill and about its payments, in order
 */
export function paymentsIn(
  trail: readonly AuditEntry[],
  attempts: readonly Pick<AttemptView, "seq" | "paymentIds" | "amountCents">[],
  read: {
    /** The payments as Payrun last read them, by id. */
    readonly seen?: ReadonlyMap<string, SeenPayment>;
    readonly shown?: PaymentsRead | undefined;
  } = {},
): PaymentInHistory[] {
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

/**
 * Returns each payment's latest state in the trail, and the payments that the trail has seen
 * completed.
 */
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

/** A payment's status after an entry about its cancellation. */
const STATUS_AFTER: Readonly<Record<string, string>> = {
  "cancel-payment:cancelled": "cancelled",
  "cancel-payment:refund_pending": "refund_pending",
  "cancel-payment:refunded": "refunded",
};

/** A payment of the bill at the service that none of Payrun's requests is known to have made. */
export interface ExternalPayment extends Pick<
  Payment,
  "id" | "amountCents" | "status" | "failureReason"
> {
  /** True if the store has lost something since, so that Payrun may have made the payment. */
  readonly mayBeOurs: boolean;
}

/** @param isForgotten returns true if the store may have forgotten that Payrun made the payment */
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

/** Returns the payments that an entry of the trail names. */
export function notedIn(value: unknown) {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    if (!("id" in item && "amountCents" in item && "status" in item)) return [];
    const { id, amountCents, status } = item;
    return [{ id: String(id), amountCents: Number(amountCents), status: String(status) }];
  });
}
