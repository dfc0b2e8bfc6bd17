import { createHash } from "node:crypto";
import type { AttemptView } from "../../ledger/attempts.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";

/** A payment of a bill as Payrun has last seen it. */
export interface SeenPayment {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
  /** Null where nobody has looked since its request was answered. */
  readonly seenAt: string | null;
  /** Number of the request that made it. */
  readonly seq: number;
}

/**
 * The payments that the bill's requests made, with what the trail last says of each.
 *
 * @param trail entries about the bill and about its payments, in order
 */
export function paymentsIn(
  trail: readonly AuditEntry[],
  attempts: readonly Pick<AttemptView, "seq" | "paymentIds" | "amountCents">[],
): SeenPayment[] {
  const seen = new Map<string, Omit<SeenPayment, "seq">>();
  for (const { atMs, action, subject, details } of trail) {
    const became = STATUS_AFTER[action];
    const cancelled = became === undefined ? undefined : seen.get(subject);
    if (cancelled !== undefined && became !== undefined) {
      seen.set(subject, { ...cancelled, status: became, seenAt: new Date(atMs).toISOString() });
    }
    for (const payment of [...listOf(details["payments"]), ...listOf(details["found"])]) {
      seen.set(payment.id, { ...payment, seenAt: new Date(atMs).toISOString() });
    }
  }
  return attempts.flatMap(({ seq, paymentIds, amountCents }) =>
    paymentIds.map((id) => ({
      ...(seen.get(id) ?? {
        id,
        amountCents: paymentIds.length === 1 ? (amountCents ?? 0) : 0,
        status: "unknown",
        seenAt: null,
      }),
      seq,
    })),
  );
}

/** What a cancellation's entry about a payment says of its status. */
const STATUS_AFTER: Readonly<Record<string, string>> = {
  "cancel-payment:cancelled": "cancelled",
  "cancel-payment:refund_pending": "refund_pending",
  "cancel-payment:refunded": "refunded",
};

function listOf(value: unknown) {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null) return [];
    if (!("id" in item && "amountCents" in item && "status" in item)) return [];
    const { id, amountCents, status } = item;
    return [{ id: String(id), amountCents: Number(amountCents), status: String(status) }];
  });
}

/** The recorded lookups at an attempt, first to last. */
export function lookUpsIn(trail: readonly AuditEntry[], attempt: Pick<AttemptView, "attemptId">) {
  return trail.flatMap(({ action, atMs, details }) => {
    if (action !== "attempt.looked-up" || details["attemptId"] !== attempt.attemptId) return [];
    return [
      {
        at: new Date(atMs).toISOString(),
        verdict: String(details["verdict"]),
        isConclusive: details["isConclusive"] === true,
        shown: Number(details["shown"]),
        paymentIds: listOf(details["found"]).map(({ id }) => id),
      },
    ];
  });
}

/** One request of the ledger as the API shows it. */
export function attemptJson(attempt: AttemptView, trail: readonly AuditEntry[]) {
  return {
    seq: attempt.seq,
    operation: attempt.operation,
    state: attempt.state,
    answer: attempt.answer,
    amountCents: attempt.amountCents,
    executionDate: attempt.executionDate,
    owner: attempt.owner,
    idempotencyKey: attempt.idempotencyKey,
    bodyHash: createHash("sha256").update(attempt.body).digest("hex"),
    sends: attempt.sends.map(({ atMs, by: _by, ...send }) => ({
      at: new Date(atMs).toISOString(),
      ...send,
    })),
    lookUps: lookUpsIn(trail, attempt),
    paymentIds: attempt.paymentIds,
  };
}
