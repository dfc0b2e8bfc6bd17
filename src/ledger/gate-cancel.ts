import type { Transaction } from "kysely";
import type { ClockReading } from "../business/clock.ts";
import { type CancellationItem, isOpenItem } from "../store/cancellation-items.ts";
import { type Cancellation, getCancellation } from "../store/cancellations.ts";
import { activeHolds } from "../store/holds.ts";
import type { Tables } from "../store/tables.ts";
import type { Closed, GateRequest } from "./gate.ts";

/** For which cancellation payments are to be cancelled. */
export interface CancelCaller {
  readonly cancellation: Pick<Cancellation, "workflowId" | "businessId">;
  /** What is to be cancelled, by the ledger's subject. */
  readonly items: ReadonlyMap<string, CancellationItem>;
  readonly clock: ClockReading;
}

/**
 * Everything that must hold for payments to be cancelled (rule 3): they are still asked for, and
 * their bills are on hold, so that nothing pays them again behind the cancel.
 */
export async function mayCancel(
  trx: Transaction<Tables>,
  { cancellation, items, clock }: CancelCaller,
  requests: readonly GateRequest[],
): Promise<Map<string, Closed>> {
  const { workflowId, businessId } = cancellation;
  const now = await getCancellation(trx, workflowId);
  const isOver = now === undefined || now.endedAtMs !== null;
  const held = await heldPayables(trx, businessId, clock);
  const closed = new Map<string, Closed>();
  for (const { subject } of requests) {
    const item = items.get(subject);
    if (isOver || item === undefined || !(await isOpenItem(trx, item))) {
      closed.set(subject, { code: "done", reason: "nobody asks for it any more" });
      continue;
    }
    // A payment that the service shows without its bill can't be held.
    if (item.payableId === null || held.has(item.payableId)) continue;
    closed.set(subject, { code: "hold-lifted", reason: "its bill is not on hold any more" });
  }
  return closed;
}

async function heldPayables(
  trx: Transaction<Tables>,
  businessId: string,
  clock: ClockReading,
): Promise<Set<string>> {
  // A process may have been frozen since it read its clock.
  const agoMs = Math.max(0, Date.now() - clock.realMs);
  const businessMs = Math.floor(clock.businessMs + agoMs * clock.scale);
  const holds = await activeHolds(trx, businessId, businessMs);
  return new Set(holds.flatMap(({ scope, value }) => (scope === "payable" ? [value] : [])));
}
