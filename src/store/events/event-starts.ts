import { isIn } from "../sql/is-in.ts";
import type { Transaction } from "kysely";
import type { StartedBy } from "../../contracts/events.ts";
import { dueAtMs, LATELY_MS } from "../../domain/events/quiet.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { changeRecords, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** An event that is to start a playbook. */
export type EventStart = Pick<
  RecordOf<"event_starts">,
  "businessId" | "playbook" | "eventId" | "target" | "type" | "objectId"
>;

export interface OpenEventStart extends EventStart {
  /** Null until what it starts is recorded; after that, it only has to be started. */
  readonly workflowId: string | null;
}

/**
 * Records that an event starts a playbook, in the transaction that marks the event as dispatched:
 * once for each event, playbook and target, however often it is delivered and by whichever process.
 *
 * @param together true if all events of the playbook start one thing together
 * @param nowMs real time
 */
export async function noteEventStart(
  trx: Transaction<Tables>,
  start: EventStart,
  { together, nowMs }: { readonly together: boolean; readonly nowMs: number },
): Promise<void> {
  const known = await findOne(trx, "event_starts", keyOf(start));
  if (known !== undefined) return;
  const same = await earlierOf(trx, start, nowMs);
  const all = together ? await earlierOf(trx, { ...start, objectId: null }, nowMs) : null;
  const earlier = {
    lately: same.lately,
    lastMs: same.lastMs,
    lastOfPlaybookMs: all?.lastMs ?? null,
    dueMs: all?.dueMs ?? same.dueMs,
  };
  await trx
    .insertInto("event_starts")
    .values({
      ...asColumns({ ...keyOf(start), type: start.type, objectId: start.objectId }),
      state: "waiting",
      due_at_ms: dueAtMs(earlier, nowMs),
      noted_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function keyOf({ businessId, playbook, eventId, target }: EventStart) {
  return { businessId, playbook, eventId, target };
}

/** Returns what has been started for the same lately, and what waits to be started. */
async function earlierOf(
  trx: Transaction<Tables>,
  of: Omit<EventStart, "objectId"> & { readonly objectId: string | null },
  nowMs: number,
): Promise<{ lately: number; lastMs: number | null; dueMs: number | null }> {
  let query = trx
    .selectFrom("event_starts")
    .where("business_id", "=", of.businessId)
    .where("playbook", "=", of.playbook)
    .where("target", "=", of.target);
  if (of.objectId !== null) query = query.where("object_id", "=", of.objectId);
  const started = await query
    .select((eb) => [
      eb.fn.count<number>("recorded_at_ms").distinct().as("starts"),
      eb.fn.max("recorded_at_ms").as("last"),
    ])
    .where("recorded_at_ms", ">", nowMs - LATELY_MS)
    .executeTakeFirst();
  const waiting = await query
    .select((eb) => eb.fn.min("due_at_ms").as("due"))
    .where("state", "=", "waiting")
    .executeTakeFirst();
  return {
    lately: Number(started?.starts ?? 0),
    lastMs: started?.last ?? null,
    dueMs: waiting?.due ?? null,
  };
}

/** Returns what is to be started now, the longest due first. */
export async function openEventStarts(
  db: Db,
  nowMs: number,
  limit: number,
): Promise<OpenEventStart[]> {
  const rows = await db
    .selectFrom("event_starts")
    .selectAll()
    .where(isIn("state", ["waiting", "recorded"]))
    .where("due_at_ms", "<=", nowMs)
    .orderBy("due_at_ms")
    .orderBy("event_id")
    .limit(limit)
    .execute();
  return rows.map(readerOf("event_starts"));
}

/** Returns which of these events still wait: what they start has not been recorded. */
export async function stillWaiting(
  trx: Transaction<Tables>,
  starts: readonly EventStart[],
): Promise<EventStart[]> {
  const waiting: EventStart[] = [];
  for (const start of starts) {
    const row = await findOne(trx, "event_starts", { ...keyOf(start), state: "waiting" });
    if (row !== undefined) waiting.push(start);
  }
  return waiting;
}

/** Records what events start, in the transaction that makes its row; null for nothing. */
export async function recordEventStarts(
  trx: Transaction<Tables>,
  starts: readonly EventStart[],
  workflowId: string | null,
  nowMs: number,
): Promise<void> {
  const recorded = { state: "recorded", workflowId, recordedAtMs: nowMs };
  const change = workflowId === null ? { state: "dropped" } : recorded;
  for (const start of starts) {
    await changeRecords(trx, "event_starts", { ...keyOf(start), state: "waiting" }, change);
  }
}

/** Records that Temporal has what these events start. */
export async function markStarted(db: Db, businessId: string, workflowId: string): Promise<void> {
  const recorded = { businessId, workflowId, state: "recorded" };
  await changeRecords(db, "event_starts", recorded, { state: "started" });
}

/** Postpones what can't be started now. */
export async function postponeEventStarts(
  db: Db,
  starts: readonly EventStart[],
  dueMs: number,
): Promise<void> {
  for (const { businessId, playbook, eventId, target } of starts) {
    await db
      .updateTable("event_starts")
      .set({ due_at_ms: dueMs })
      .where("business_id", "=", businessId)
      .where("playbook", "=", playbook)
      .where("event_id", "=", eventId)
      .where("target", "=", target)
      .where("state", "in", ["waiting", "recorded"])
      .execute();
  }
}

/** Returns the events that started each of these workflows. */
export async function startedBy(
  db: Db,
  workflowIds: readonly string[],
): Promise<Map<string, StartedBy[]>> {
  const rows = [];
  for (const ids of chunks(workflowIds)) {
    rows.push(
      ...(await db
        .selectFrom("event_starts")
        .select(["workflow_id", "event_id", "type", "object_id"])
        .where("workflow_id", "in", ids)
        .orderBy("noted_at_ms")
        .orderBy("event_id")
        .execute()),
    );
  }
  const found = new Map<string, StartedBy[]>();
  for (const [workflowId, of] of Map.groupBy(rows, (row) => row.workflow_id ?? "")) {
    const events = of.map((row) => ({
      eventId: row.event_id,
      type: row.type,
      objectId: row.object_id,
    }));
    found.set(workflowId, events);
  }
  return found;
}

/**
 * Deletes events that started something long ago. An event older than those that the inbox keeps
 * starts nothing if it comes again.
 */
export async function pruneEventStarts(
  db: Db,
  businessId: string,
  beforeMs: number,
): Promise<number> {
  const result = await db
    .deleteFrom("event_starts")
    .where("business_id", "=", businessId)
    .where("noted_at_ms", "<", beforeMs)
    .where("state", "in", ["started", "dropped"])
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
