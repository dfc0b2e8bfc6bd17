import type { BusinessProfile } from "../config/business-profile.ts";
import { firstPayDate, fireOf, nextFires, nextPeriod } from "../domain/clock/schedule-period.ts";
import { launcherOf } from "../domain/clock/schedule-triggers.ts";
import { addDays } from "../domain/clock/dates.ts";
import { zonedDate } from "../domain/clock/new-york.ts";
import type { PlaybookSchedule } from "../contracts/playbook.ts";
import { scheduleWish } from "../store/schedule-wishes.ts";
import { playbookRevisions, type StoredPlaybook } from "../store/playbooks.ts";
import { findRunOfPeriod } from "../store/runs.ts";
import {
  deleteSchedule,
  type LauncherSchedule,
  putSchedule,
  readSchedule,
} from "../temporal/schedules.ts";
import type { GatewayContext } from "./context.ts";
import type { Principal } from "./http/auth.ts";
import { unprocessable } from "./http/errors.ts";
import { businessOf, launch, type Launched } from "./launch.ts";
import { persistently } from "./temporal.ts";

const RUNS_SHOWN = 5;
const DAY_MS = 86_400_000;

type Context = Pick<GatewayContext, "store" | "profiles" | "temporal" | "clocks" | "nowMs">;

/** A playbook's schedule as people see it. */
export interface ScheduleItem {
  readonly playbook: string;
  readonly business: string;
  /** `missing` and `differs`: applying the playbook again puts it right. */
  readonly state: "active" | "paused" | "missing" | "differs";
  readonly note: string | null;
  readonly zone: string;
  /** The next runs: period, when they begin, and the first day on which they can pay. */
  readonly next: readonly {
    readonly period: string;
    readonly beginsAt: string;
    readonly payDate: string;
  }[];
}

/**
 * Brings Temporal's schedule of a playbook in step with its revision in force: made, changed, or
 * deleted where the playbook has none. Doing it again changes nothing.
 *
 * @throws GatewayError 503 where Temporal can't be reached; applying the playbook again completes it
 */
export async function syncSchedule(
  context: Context,
  stored: Pick<StoredPlaybook, "name" | "compiled">,
): Promise<void> {
  const wanted = wantedOf(context, stored);
  // What never ran by itself needs no Temporal to be stored.
  if (wanted === null && !(await everHadSchedule(context, stored.name))) return;
  await persistently(context.temporal, async () => {
    if (wanted === null) await deleteSchedule(context.temporal, stored.name);
    else await putSchedule(context.temporal, wanted);
  });
}

/** What a playbook's schedule is and does next, or null where the playbook has none. */
export async function scheduleOf(
  context: Context,
  stored: Pick<StoredPlaybook, "name" | "compiled">,
): Promise<ScheduleItem | null> {
  const { schedule } = stored.compiled;
  const wanted = wantedOf(context, stored);
  if (schedule === null || wanted === null) return null;
  const kept = await persistently(context.temporal, () =>
    readSchedule(context.temporal, stored.name, wanted),
  );
  const state =
    kept === undefined ? "missing" : kept.inStep ? (kept.paused ? "paused" : "active") : "differs";
  return {
    playbook: stored.name,
    business: wanted.business,
    state,
    note: kept?.note ?? null,
    zone: schedule.zone,
    next: nextFires(schedule, context.nowMs(), RUNS_SHOWN).map((fire) => ({
      period: fire.period,
      beginsAt: new Date(fire.fireAtMs).toISOString(),
      payDate: firstPayDate(fire),
    })),
  };
}

/**
 * Launches what a schedule has missed: the runs that should have begun within the playbook's
 * `catchUp`, each once, or the one of the period asked for. What would have begun before the
 * playbook had this schedule was not missed.
 *
 * @throws GatewayError 422 for a period that is not the schedule's, or that was missed longer ago
 */
export async function backfill(
  context: Context,
  stored: Pick<StoredPlaybook, "name" | "compiled">,
  asked: string | undefined,
  by: Principal,
): Promise<readonly (Launched & { readonly period: string })[]> {
  const { schedule } = stored.compiled;
  if (schedule === null) throw unprocessable("no_schedule", `${stored.name} has no schedule.`);
  const profile = businessOf(context, stored.compiled);
  const now = context.nowMs();
  const sinceMs = await scheduledSinceMs(context, profile.businessId, stored);
  const missed = missedPeriods(schedule, sinceMs, now);
  if (asked !== undefined && !missed.includes(asked)) {
    throw unprocessable(
      "not_missed",
      whyNot(stored.name, schedule, asked, { sinceMs, nowMs: now }),
    );
  }
  const launched = [];
  for (const period of asked === undefined ? missed : [asked]) {
    const has = await findRunOfPeriod(context.store.db, {
      businessId: profile.businessId,
      playbook: stored.name,
      period,
    });
    if (has !== undefined && asked === undefined) continue;
    const request = { playbook: stored.name, period, once: true };
    launched.push({ period, ...(await launch(context, request, by)) });
  }
  return launched;
}

async function everHadSchedule(context: Context, name: string): Promise<boolean> {
  const revisions = await playbookRevisions(context.store.db, name);
  return revisions.some(({ compiled }) => compiled.schedule !== null);
}

/** Since when a playbook has the schedule that it has now. */
async function scheduledSinceMs(
  { store }: Context,
  businessId: string,
  { name, compiled }: Pick<StoredPlaybook, "name" | "compiled">,
): Promise<number> {
  const timesOf = ({ schedule }: StoredPlaybook["compiled"]): string =>
    JSON.stringify(schedule === null ? null : { ...schedule, catchUpDays: 0 });
  const revisions = await playbookRevisions(store.db, name);
  const other = revisions.findIndex((revision) => timesOf(revision.compiled) !== timesOf(compiled));
  const first = other === -1 ? revisions.at(-1) : revisions[other - 1];
  const { madeAgainMs } = await scheduleWish(store.db, { businessId, playbook: name });
  return Math.max(first?.createdAtMs ?? 0, madeAgainMs ?? 0);
}

function missedPeriods(schedule: PlaybookSchedule, sinceMs: number, nowMs: number): string[] {
  const fromMs = Math.max(sinceMs, nowMs - schedule.catchUpDays * DAY_MS);
  const periods: string[] = [];
  // A run may begin some days off its period, so those around the window are looked at as well.
  let period = addDays(zonedDate(fromMs, schedule.zone), -8);
  for (const last = addDays(zonedDate(nowMs, schedule.zone), 8); period <= last;) {
    period = nextPeriod(schedule, period);
    const { fireAtMs } = fireOf(schedule, period);
    if (fireAtMs > fromMs && fireAtMs <= nowMs) periods.push(period);
  }
  return periods;
}

function whyNot(
  name: string,
  schedule: PlaybookSchedule,
  period: string,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): string {
  const nominal = nextPeriod(schedule, addDays(period, -1));
  if (nominal !== period) {
    return `${period} is no period of ${name}; the next one after it is ${nominal}.`;
  }
  const { fireAtMs } = fireOf(schedule, period);
  if (fireAtMs > nowMs) {
    return `The run of ${period} is not missed: it begins at ${new Date(fireAtMs).toISOString()}.`;
  }
  const why =
    fireAtMs <= sinceMs
      ? `was not missed: ${name} runs by this schedule only since ${new Date(sinceMs).toISOString()}`
      : `was missed longer ago than catchUp: ${schedule.catchUpDays} days allows`;
  return `The run of ${period} ${why}; “payrun launch ${name} --period ${period}” makes it all the same.`;
}

function wantedOf(
  context: Context,
  { name, compiled }: Pick<StoredPlaybook, "name" | "compiled">,
): LauncherSchedule | null {
  if (compiled.schedule === null) return null;
  const profile: BusinessProfile = businessOf(context, compiled);
  const { schedule } = compiled;
  return launcherOf({ playbook: name, business: profile.name, schedule }, context.nowMs());
}
