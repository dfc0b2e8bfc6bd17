import type { Transaction } from "kysely";
import { type CancellationItem, isOpenItem } from "../store/cancellations/cancellation-items.ts";
import { type Cancellation, getCancellation } from "../store/cancellations/cancellations.ts";
import { activeHolds } from "../store/holds/holds.ts";
import type { Tables } from "../store/schema/tables.ts";
import { type Closed, closedFor, type GateRequest } from "./gate.ts";

/** For which cancellation payments are to be cancelled. */
export interface CancelCaller {
  readonly cancellation: Pick<Cancellation, "workflowId" | "businessId">;
  /** What is to be cancelled, by the ledger's subject. */
  readonly items: ReadonlyMap<string, CancellationItem>;
}

/**
 * Everything that must hold for payments to be cancelled (rule 3): they are still asked for, and
 * their bills are on hold, so that nothing pays them again behind the cancel.
 */
export async function mayCancel(
  trx: Transaction<Tables>,
  { cancellation, items }: CancelCaller,
  requests: readonly GateRequest[],
  businessMs: number,
): Promise<Map<string, Closed>> {
  const { workflowId, businessId } = cancellation;
  const now = await getCancellation(trx, workflowId);
  const isOver = now === undefined || now.endedAtMs !== null;
  const holds = await activeHolds(trx, businessId, businessMs);
  const held = new Set(holds.flatMap(({ scope, value }) => (scope === "payable" ? [value] : [])));
  const closed = new Map<string, Closed>();
  for (const { subject } of requests) {
    const item = items.get(subject);
    if (isOver || item === undefined || !(await isOpenItem(trx, item))) {
      closed.set(subject, closedFor("done", "nobody asks for it any more"));
      continue;
    }
    // A payment that the service shows without its bill can't be held.
    if (item.payableId === null || held.has(item.payableId)) continue;
    closed.set(subject, closedFor("hold-lifted", "its bill is not on hold any more"));
  }
  return closed;
}
