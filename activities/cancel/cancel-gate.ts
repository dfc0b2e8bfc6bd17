import type { Transaction } from "kysely";
import type { Attempt, AttemptSend } from "../../src/contracts/attempt.ts";
import { shortenSends } from "../../src/domain/attempts/sends.ts";
import { changeLiveAttempt, insertAttempt, reviveAttempt } from "../../src/store/attempts.ts";
import { getCancellation, listItems } from "../../src/store/cancellations.ts";
import { activeHolds } from "../../src/store/holds.ts";
import type { Tables } from "../../src/store/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import type { CancelJob } from "./job.ts";

const KEPT_SENDS = { most: 60, last: 30 } as const;

export type CancelGate =
  | { readonly open: true; readonly attempt: Attempt }
  | { readonly open: false; readonly why: "done" | "hold-lifted" };

/**
 * Writes that a cancel is about to be sent, in one transaction with what must hold for it: it is
 * still asked for, and the bill is on hold, so that nothing pays it again behind the cancel.
 *
 * What is not written here is not sent.
 */
export function openCancelGate(
  context: ActivityContext,
  job: CancelJob,
  frozen: { readonly mode: "insert" | "revive" | "resend"; readonly attempt: Attempt },
  clock: ClockReading,
): Promise<CancelGate> {
  return context.store.transactionOf(job.cancellation.businessId, async (trx) => {
    const closed = await closedBecause(trx, job, clock);
    if (closed !== null) return { open: false, why: closed };
    const { attempt, mode } = frozen;
    const send: AttemptSend = { atMs: clock.serviceMs, by: job.by, result: "pending" };
    const sent: Attempt = {
      ...attempt,
      sends: [...shortenSends(attempt.sends, KEPT_SENDS), send],
      firstSentAtMs: attempt.firstSentAtMs ?? clock.serviceMs,
      lastSentAtMs: clock.serviceMs,
    };
    if (mode === "insert") {
      await insertAttempt(trx, sent, clock.realMs);
    } else if (mode === "revive") {
      await reviveAttempt(trx, sent, clock.realMs);
    } else {
      const change = {
        sends: sent.sends,
        firstSentAtMs: sent.firstSentAtMs ?? clock.serviceMs,
        lastSentAtMs: clock.serviceMs,
        owner: job.cancellation.workflowId,
      };
      const isLive = await changeLiveAttempt(trx, attempt.attemptId, change, clock.realMs);
      if (!isLive) return { open: false, why: "done" };
    }
    return { open: true, attempt: sent };
  });
}

async function closedBecause(
  trx: Transaction<Tables>,
  { cancellation, item }: CancelJob,
  clock: ClockReading,
): Promise<"done" | "hold-lifted" | null> {
  const { workflowId, businessId } = cancellation;
  const now = await getCancellation(trx, workflowId);
  if (now === undefined || now.endedAtMs !== null) return "done";
  const items = await listItems(trx, workflowId);
  if (items.find(({ itemNo }) => itemNo === item.itemNo)?.open !== true) return "done";
  // A payment that the service shows without its bill can't be held.
  if (item.payableId === null) return null;
  const holds = await activeHolds(trx, businessId, clock.businessMs);
  const isHeld = holds.some((hold) => hold.scope === "payable" && hold.value === item.payableId);
  return isHeld ? null : "hold-lifted";
}
