import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../contracts/durations.ts";
import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { addDays } from "../../domain/clock/dates.ts";
import { zonedDate } from "../../domain/clock/new-york.ts";
import { fireOf, periodBeginningOn } from "../../domain/clock/schedule-period.ts";
import { launchedBySchedule } from "../../domain/clock/schedule-triggers.ts";
import { runThatCounts } from "./run-of-period.ts";
import { wasLaunchedSince } from "./runs-lately.ts";
import type { Db } from "../sql/db.ts";
import { listPlaybooks, type StoredPlaybook } from "../playbooks/playbooks.ts";
import { scheduledSinceMs } from "../playbooks/scheduled-since.ts";
import { scheduleWish } from "../playbooks/schedule-wishes.ts";

/** How long a launch may wait for a busy worker before its run counts as not started. */
const STARTS_WITHIN_MS = 15 * MINUTE_MS;

/** A run that should have started, and has not. */
export interface NotStarted {
  readonly playbook: string;
  readonly period: string;
  readonly schedule: PlaybookSchedule;
  /** True if it is too late for its schedule to begin it by itself. */
  readonly isMissed: boolean;
}

/**
 * Returns of each schedule the last run that should have started within some days, if it has not:
 * nobody has launched its period, and the schedule was neither made nor resumed later, nor is it
 * paused or deleted.
 *
 * @param everyMissed adds those before it that began no more, as after workers were away for days;
 * the run that ended such a time may have started
 */
export async function runsNotStarted(
  db: Db,
  { name: business, businessId, sandbox }: Business,
  asked: { readonly nowMs: number; readonly days: number; readonly everyMissed?: boolean },
): Promise<NotStarted[]> {
  const { nowMs, days, everyMissed = false } = asked;
  const found: NotStarted[] = [];
  for (const stored of await listPlaybooks(db, business)) {
    const { name: playbook, compiled } = stored;
    if (compiled.kind !== "pay-run" || compiled.schedule === null) continue;
    const { schedule } = compiled;
    const of = { businessId, playbook };
    let startedBefore = false;
    for (const { period, fireAtMs } of latestFires(schedule, nowMs, days)) {
      const hasStarted = await wasStarted(db, { ...of, period, fireAtMs }, sandbox);
      if (hasStarted && startedBefore) break;
      startedBefore = hasStarted;
      if (!hasStarted) {
        // Checked last, since it reads the playbook's whole trail.
        if (!(await wasToStart(db, of, stored, fireAtMs))) break;
        const startsForMs = Math.max(HOUR_MS, schedule.catchUpDays * DAY_MS);
        found.push({ playbook, period, schedule, isMissed: nowMs - fireAtMs > startsForMs });
      }
      if (!everyMissed) break;
    }
  }
  return found;
}

async function wasStarted(
  db: Db,
  run: { businessId: string; playbook: string; period: string; fireAtMs: number },
  sandbox: boolean,
): Promise<boolean> {
  const { fireAtMs: sinceMs, ...of } = run;
  if ((await runThatCounts(db, of, launchedBySchedule(of.playbook))) !== undefined) return true;
  // A sandbox wakes its launcher in real time, and dates the run by a clock that may be moved.
  return sandbox && (await wasLaunchedSince(db, { ...of, sinceMs }));
}

interface Business {
  readonly name: string;
  readonly businessId: string;
  readonly sandbox: boolean;
}

/** Returns the runs that a schedule should have started within these days, the last one first. */
function* latestFires(
  schedule: PlaybookSchedule,
  nowMs: number,
  days: number,
): Generator<{ readonly period: string; readonly fireAtMs: number }> {
  const today = zonedDate(nowMs, schedule.zone);
  for (let ago = 0; ago < days; ago += 1) {
    const period = periodBeginningOn(schedule, addDays(today, -ago));
    if (period === null) continue;
    const { fireAtMs } = fireOf(schedule, period);
    if (fireAtMs <= nowMs - STARTS_WITHIN_MS) yield { period, fireAtMs };
  }
}

async function wasToStart(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string },
  stored: StoredPlaybook,
  fireAtMs: number,
): Promise<boolean> {
  const { deleted, pause, resumedMs } = await scheduleWish(db, of);
  if (deleted || pause !== null || fireAtMs < (resumedMs ?? 0)) return false;
  // A schedule that was made later begins with its next run.
  return fireAtMs >= (await scheduledSinceMs(db, of, stored));
}
