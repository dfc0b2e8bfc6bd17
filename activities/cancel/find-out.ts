import type { Attempt } from "../../src/contracts/attempt.ts";
import { judgeLookUp } from "../../src/domain/attempts/look-up.ts";
import { isAnswered } from "../../src/domain/attempts/sends.ts";
import { mayYetBeCancelled } from "../../src/domain/cancellations/judge-payment.ts";
import { lookRestMs } from "../../src/domain/cancellations/rests.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import { activeHolds } from "../../src/store/holds.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import { conclusiveFromMs } from "../pay/look-up.ts";
import type { CancelOutcome, FindOutJob } from "./job.ts";

/**
 * Finds out what came of a request that was under way when its bill was put on hold.
 *
 * The hold keeps everybody from sending it again, so this ends: its sender gets the answer, or the
 * service shows the payment, or a look that is late enough to be the last word shows none. Reads
 * only: the attempt stays its sender's.
 */
export async function findOut(
  context: ActivityContext,
  { cancellation, item }: FindOutJob,
): Promise<CancelOutcome> {
  const { business, businessId } = cancellation;
  const { db } = context.store;
  const before = await context.clockOf(business).now();
  const holds = await activeHolds(db, businessId, before.businessMs);
  if (!holds.some(({ scope, value }) => scope === "payable" && value === item.payableId)) {
    return ended("released", "Its hold was lifted before it was known what came of its request.");
  }
  const last = (await attemptsOf(db, businessId, item.payableId)).at(-1);
  const { payments } = context.clientOf(business);
  const found = await payments.listAll({ payableId: item.payableId });
  if (last === undefined) return ended("withheld", "No request of it is known: nothing was sent.");
  if (last.state === "dead" || last.state === "released") {
    // Somebody else may have paid the bill meanwhile: what is scheduled of it is meant as well.
    const others = found
      .filter(({ id, status }) => mayYetBeCancelled(status) && !last.knownPaymentIds.includes(id))
      .map(({ id }) => id);
    if (others.length > 0) return made(last, others, found);
    return ended("withheld", `Its request came to nothing${saidOf(last)}: no payment was made.`);
  }
  if (last.state === "applied") return made(last, last.paymentIds, found);
  const verdict = judgeLookUp({ ...last, found });
  if (verdict.kind === "adopt") return made(last, verdict.paymentIds, found);
  const clock = await context.clockOf(business).now();
  // The earlier reading of the service's time can't end a window too soon.
  const serviceMs = Math.min(before.serviceMs, clock.serviceMs);
  const overMs = conclusiveFromMs(last, clock) + LEASE_MS;
  if (!isAnswered(last) && serviceMs < overMs) {
    const restMs = lookRestMs(serviceMs - (last.lastSentAtMs ?? serviceMs));
    return {
      kind: "rest",
      notBeforeMs: Math.ceil(Math.min(serviceMs + restMs, overMs)),
      reason: "Its request has no answer yet, and the service shows no payment; looking again.",
    };
  }
  if (verdict.kind === "partial") return made(last, verdict.paymentIds, found);
  if (last.sends.at(-1)?.result === "conflict") {
    return ended(
      "unknown",
      "The service says that its request still runs, and shows none. Ask it.",
    );
  }
  const answer = isAnswered(last) ? `was refused${saidOf(last)}` : "has no answer";
  return ended(
    "withheld",
    `Its request ${answer}, and the service shows no payment: none was made.`,
  );
}

function made(attempt: Attempt, ids: readonly string[], found: readonly Payment[]): CancelOutcome {
  const payments = ids.map((paymentId) => {
    const shown = found.find(({ id }) => id === paymentId);
    const only = ids.length === 1 ? attempt.amountCents : 0;
    return { paymentId, amountCents: shown?.amountCents ?? only };
  });
  return { kind: "made", payments };
}

function saidOf(attempt: Attempt): string {
  const code = attempt.sends.findLast((send) => send.code !== undefined)?.code;
  return code === undefined ? "" : ` (${code})`;
}

function ended(state: "withheld" | "released" | "unknown", reason: string): CancelOutcome {
  return { kind: "ended", state, reason };
}
