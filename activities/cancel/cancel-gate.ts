import type { Transaction } from "kysely";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { beginSend } from "../../src/domain/attempts/sends.ts";
import { noteRefusal, type SendMode, writeAttempt } from "../../src/store/attempt-writes.ts";
import { getCancellation } from "../../src/store/cancellations.ts";
import { isOpenItem } from "../../src/store/cancellation-items.ts";
import { activeHolds } from "../../src/store/holds.ts";
import type { Tables } from "../../src/store/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import type { CancelJob } from "./job.ts";

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
  frozen: { readonly mode: SendMode; readonly attempt: Attempt },
  clock: ClockReading,
): Promise<CancelGate> {
  return context.store.transactionOf(job.cancellation.businessId, async (trx) => {
    const closed = await closedBecause(trx, job, clock);
    if (closed !== null) {
      await noteRefusal(trx, frozen.attempt, { why: closed, nowMs: clock.realMs });
      return { open: false, why: closed };
    }
    const { workflowId: owner } = job.cancellation;
    const sent = beginSend(frozen.attempt, { atMs: clock.serviceMs, by: job.by, owner });
    const isWritten = await writeAttempt(trx, sent, frozen.mode, clock.realMs);
    if (!isWritten) return { open: false, why: "done" };
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
  if (!(await isOpenItem(trx, item))) return "done";
  // A payment that the service shows without its bill can't be held.
  if (item.payableId === null) return null;
  const holds = await activeHolds(trx, businessId, clock.businessMs);
  const isHeld = holds.some((hold) => hold.scope === "payable" && hold.value === item.payableId);
  return isHeld ? null : "hold-lifted";
}
