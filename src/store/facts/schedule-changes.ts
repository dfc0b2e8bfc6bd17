import type { Transaction } from "kysely";
import { TEMPORAL } from "../../contracts/authors.ts";
import { SCHEDULE_ACTS } from "../../domain/facts/playbooks.ts";
import { record } from "./record.ts";
import type { Tables } from "../schema/tables.ts";
import { type OfSchedule, scheduleWish } from "../playbooks/schedule-wishes.ts";

/**
 * Takes what a person did at Temporal itself, as it stands there now, as the last word on a
 * schedule: a pause that only Temporal knew of would be lost with it. Records each act once.
 *
 * The caller must have had the schedule to itself (`withSchedule`) since before it was read;
 * otherwise what another process is about to record would be taken for an act from outside.
 *
 * @returns what had been done meanwhile, or null if the last recorded word stands
 */
export async function noteOutsideAct(
  trx: Transaction<Tables>,
  of: OfSchedule,
  kept: { readonly paused: boolean; readonly note: string | null },
  nowMs: number,
): Promise<"paused" | "resumed" | null> {
  const { pause } = await scheduleWish(trx, of);
  if (kept.paused === (pause !== null)) return null;
  const done = kept.paused ? "paused" : "resumed";
  const head = { businessId: of.businessId, nowMs, by: TEMPORAL, subject: of.playbook };
  await record(trx, SCHEDULE_ACTS[done](head, { note: kept.note ?? undefined }));
  return done;
}
