import type { Transaction } from "kysely";
import { holdsOfCancellation } from "../domain/cancellations/holds-of-cancellation.ts";
import { type CancellationItem, isOpenItem } from "../store/cancellations/cancellation-items.ts";
import { type Cancellation, getCancellation } from "../store/cancellations/cancellations.ts";
import { activeHolds } from "../store/holds/holds.ts";
import type { Tables } from "../store/schema/tables.ts";
import { cancelForbiddenByTrail } from "./gate-trail.ts";
import { type Closed, closedFor, type GateReads, type GateRequest } from "./gate.ts";

/** The cancellation that wants payments cancelled. */
export interface CancelCaller {
  readonly cancellation: Pick<Cancellation, "workflowId" | "businessId" | "policy">;
  /** The payments to cancel, by ledger subject. */
  readonly items: ReadonlyMap<string, CancellationItem>;
}

/**
 * Checks everything that must hold before payments are cancelled (rule 3): the cancellation still
 * wants it, and the bill is on hold, so that nothing pays it again after the cancel.
 */
export async function mayCancel(
  trx: Transaction<Tables>,
  { cancellation, items }: CancelCaller,
  requests: readonly GateRequest[],
  { businessMs }: Pick<GateReads, "businessMs">,
): Promise<Map<string, Closed>> {
  const { workflowId, businessId } = cancellation;
  const now = await getCancellation(trx, workflowId);
  const isOver = now === undefined || now.endedAtMs !== null;
  const holds = await activeHolds(trx, businessId, businessMs);
  const kept = holdsOfCancellation(cancellation.policy, holds);
  const closed = new Map<string, Closed>();
  for (const { subject } of requests) {
    const item = items.get(subject);
    if (isOver || item === undefined || !(await isOpenItem(trx, item))) {
      closed.set(subject, closedFor("done", "the cancel is no longer wanted"));
      continue;
    }
    if (!kept.has(item.payableId)) {
      closed.set(subject, closedFor("hold_lifted", "its bill is no longer on hold"));
      continue;
    }
    const reason = await cancelForbiddenByTrail(trx, now, item, holds, businessMs);
    if (reason !== null) closed.set(subject, closedFor("trail_differs", reason));
  }
  return closed;
}
