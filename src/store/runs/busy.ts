import { type ExpressionBuilder, sql } from "kysely";
import { launchedByEvents } from "../../domain/events/triggers.ts";
import type { Tables } from "../schema/tables.ts";

/** True for a run unless an event started it and it found nothing of its own to pay. */
export function isBusy(eb: ExpressionBuilder<Tables, "runs">) {
  return eb.or([
    eb("runs.launched_by_kind", "!=", "system"),
    eb("runs.launched_by", "!=", sql<string>`${launchedByEvents("").name} || runs.playbook`),
    eb("runs.phase", "!=", "completed"),
    eb("runs.total_cents", ">", 0),
  ]);
}
