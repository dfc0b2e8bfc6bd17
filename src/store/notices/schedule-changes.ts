import type { Transaction } from "kysely";
import { TEMPORAL } from "../../contracts/authors.ts";
import { scheduleChanged, type ScheduleChange } from "../../domain/notices/temporal-texts.ts";
import { appendAudit } from "../audit/audit.ts";
import { type OfSchedule, scheduleWish } from "../playbooks/schedule-wishes.ts";
import type { Tables } from "../schema/tables.ts";
import { raiseNotice } from "./notices.ts";

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
  await appendAudit(trx, {
    businessId: of.businessId,
    nowMs,
    actor: TEMPORAL,
    action: `schedule.${done}`,
    subject: of.playbook,
    details: kept.note === null ? {} : { note: kept.note },
  });
  await notifyOfSchedule(trx, of, done, nowMs);
  return done;
}

/** Notifies operators, once, of what has become of a schedule in Temporal itself. */
export async function notifyOfSchedule(
  trx: Transaction<Tables>,
  { businessId, playbook }: OfSchedule,
  change: ScheduleChange,
  nowMs: number,
): Promise<void> {
  await raiseNotice(trx, {
    businessId,
    kind: "schedule-changed",
    factKey: `${playbook}/${change}/${nowMs}`,
    ...scheduleChanged(playbook, change),
    roles: ["operator"],
    data: { playbook, change },
    nowMs,
  });
}
