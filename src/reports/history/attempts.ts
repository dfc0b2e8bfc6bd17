import { createHash } from "node:crypto";
import type { AttemptView } from "../../ledger/attempts.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import { notedIn } from "./payments.ts";

/** Returns the recorded lookups of an attempt, first to last. */
export function lookUpsIn(trail: readonly AuditEntry[], attempt: Pick<AttemptView, "attemptId">) {
  return trail.flatMap(({ action, atMs, details }) => {
    if (action !== "attempt.looked-up" || details["attemptId"] !== attempt.attemptId) return [];
    return [
      {
        at: new Date(atMs).toISOString(),
        verdict: String(details["verdict"]),
        isConclusive: details["isConclusive"] === true,
        shown: Number(details["shown"]),
        paymentIds: notedIn(details["found"]).map(({ id }) => id),
      },
    ];
  });
}

/** Returns one request of the ledger as the API shows it. */
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
