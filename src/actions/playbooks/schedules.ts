import type { Transaction } from "kysely";
import { onlyPlans } from "../../domain/plan-only.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { firstPayDate, nextFires, periodAt } from "../../domain/clock/schedule-period.ts";
import { launcherOf } from "../../domain/clock/schedule-triggers.ts";
import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import type { Tables } from "../../store/index.ts";
import { withSchedule } from "../../store/playbooks/schedule-turns.ts";
import { noteOutsideAct } from "../../store/facts/schedule-changes.ts";
import { type ScheduleWish, scheduleWish } from "../../store/playbooks/schedule-wishes.ts";
import {
  type PlaybookKey,
  playbookRevisions,
  type StoredPlaybook,
} from "../../store/playbooks/playbooks.ts";
import {
  deleteSchedule,
  type LauncherSchedule,
  putSchedule,
  readSchedule,
  type ScheduleKey,
  type ScheduleState,
} from "../../temporal/schedules.ts";
import type { ActionContext } from "../context.ts";
import { conflict } from "../errors.ts";
import { businessNamed } from "../businesses.ts";
import { persistently } from "../temporal.ts";
import { ClockReading } from "../../business/clock.ts";

const RUNS_SHOWN = 5;

/** The clock of a fast sandbox reaches the end of what dates can express. */
const LAST_DATE_MS = Date.UTC(9000, 0, 1);

/** The wait for another process that changes the same schedule; a change takes seconds at most. */
const TURN_MS = 10_000;

export type ScheduleContext = Pick<
  ActionContext,
  "store" | "profiles" | "temporal" | "clocks" | "nowMs"
>;
type Playbook = Pick<StoredPlaybook, "business" | "name" | "compiled">;

/** A playbook's schedule as people see it. */
export interface ScheduleItem {
  readonly playbook: string;
  readonly business: string;
  /** `missing` and `differs`: applying the playbook again repairs it. */
  readonly state: "active" | "paused" | "missing" | "differs";
  /** Present if a person deleted it: it begins nothing until its playbook is applied again. */
  readonly deleted?: true;
  /** Present if its runs only plan. */
  readonly planOnly?: true;
  /** Whether it is paused; if it is missing, whether it will be once it is created again. */
  readonly paused: boolean;
  readonly note: string | null;
  readonly zone: string;
  /**
   * The next runs: `beginsAt` in real time, the period and the first possible pay date on the
   * business clock, which differs only for a sandbox. Empty while a sandbox's clock can't be read.
   */
  readonly next: readonly {
    readonly period: string;
    readonly beginsAt: string;
    readonly payDate: string;
  }[];
}

/**
 * Works on a playbook's schedule while no other process does.
 *
 * @throws GatewayError 409 if another process keeps it busy
 */
export async function withScheduleAlone<T extends object>(
  { store }: ScheduleContext,
  { business, name: playbook }: PlaybookKey,
  work: () => Promise<T>,
): Promise<T> {
  const done = await withSchedule(store.db, { business, playbook }, TURN_MS, work);
  if (done !== undefined) return done;
  throw conflict(
    "schedule_busy",
    `Another request is changing the schedule of ${playbook} right now: try again in a moment.`,
  );
}

/**
 * Updates Temporal's schedule of a playbook to its revision in force: creates or changes it, or
 * deletes it if the playbook has none. Repeating this changes nothing. A pause is kept, also that
 * of a schedule that Temporal has lost.
 *
 * @returns the note of its pause, or null if it isn't paused
 * @throws GatewayError 503 if Temporal can't be reached; applying the playbook again completes it
 */
export async function syncSchedule(
  context: ScheduleContext,
  stored: Playbook,
): Promise<{ readonly pause: string | null }> {
  const wanted = wantedOf(context, stored);
  // A playbook that has never had a schedule can be stored without Temporal.
  if (wanted === null && !(await everHadSchedule(context, stored))) return { pause: null };
  return withScheduleAlone(context, stored, async () => {
    if (wanted === null) {
      await persistently(context.temporal, () => deleteSchedule(context.temporal, keyOf(stored)));
      return { pause: null };
    }
    const { wish } = await standing(context, stored);
    await makeSchedule(context, stored, wish);
    return { pause: wish.pause };
  });
}

/**
 * Returns the schedule that Temporal has for a playbook, and what people want of it. Records what
 * they did in Temporal itself. To be called within `alone`.
 */
export async function standing(
  context: ScheduleContext,
  stored: Playbook,
): Promise<{ readonly kept: ScheduleState | undefined; readonly wish: ScheduleWish }> {
  const { store, temporal } = context;
  const { businessId } = profileOf(context, stored);
  const of = { businessId, playbook: stored.name };
  const kept = await persistently(temporal, () => readSchedule(temporal, keyOf(stored), null));
  if (kept !== undefined) {
    const note = async (trx: Transaction<Tables>): Promise<void> => {
      await noteOutsideAct(trx, of, kept, context.nowMs());
    };
    await store.transactionOf(businessId, note, { part: "what was done in Temporal" });
  }
  return { kept, wish: await scheduleWish(store.db, of) };
}

/** Creates or changes a schedule, paused if it should be; does nothing if the playbook has none. */
export async function makeSchedule(
  context: ScheduleContext,
  stored: Playbook,
  wish: ScheduleWish,
): Promise<void> {
  const wanted = wantedOf(context, stored);
  if (wanted === null) return;
  await persistently(context.temporal, () => putSchedule(context.temporal, wanted, wish.pause));
}

/** Returns a playbook's schedule and its next runs, or null if the playbook has none. */
export async function scheduleOf(
  context: ScheduleContext,
  stored: Playbook,
): Promise<ScheduleItem | null> {
  const { schedule } = stored.compiled;
  const wanted = wantedOf(context, stored);
  if (schedule === null || wanted === null) return null;
  const profile = profileOf(context, stored);
  const kept = await persistently(context.temporal, () =>
    readSchedule(context.temporal, keyOf(stored), wanted),
  );
  const { paused, note, deleted } = kept
    ? { ...kept, deleted: false }
    : await lostOf(context, profile, stored.name);
  const state =
    kept === undefined ? "missing" : kept.inStep ? (kept.paused ? "paused" : "active") : "differs";
  return {
    playbook: stored.name,
    business: wanted.business,
    state,
    ...(deleted ? { deleted } : {}),
    ...(onlyPlans({ schedule }) ? { planOnly: true } : {}),
    paused,
    note,
    zone: schedule.zone,
    next: deleted ? [] : await nextRuns(context, profile, schedule),
  };
}

/** Returns the last known state of a schedule that Temporal no longer has. */
async function lostOf(
  { store }: ScheduleContext,
  { businessId }: BusinessProfile,
  playbook: string,
): Promise<Pick<ScheduleState, "paused" | "note"> & { readonly deleted: boolean }> {
  const { pause, deleted } = await scheduleWish(store.db, { businessId, playbook });
  return { paused: pause !== null, note: pause, deleted };
}

/**
 * Returns the next runs. Temporal wakes the launcher in real time, and the launcher names its run
 * by the business clock. Empty if that clock can't be read: the rest of this schedule, and other
 * schedules, are shown all the same.
 */
async function nextRuns(
  context: ScheduleContext,
  profile: BusinessProfile,
  schedule: PlaybookSchedule,
): Promise<ScheduleItem["next"]> {
  const nowMs = context.nowMs();
  const clock = profile.sandbox
    ? await context.clocks.read(profile).catch(() => undefined)
    : new ClockReading({ businessMs: nowMs });
  if (clock === undefined) return [];
  return nextFires(schedule, nowMs, RUNS_SHOWN).map(({ fireAtMs }) => {
    // Rounded to the second: a reading that is some milliseconds old must not give the day before.
    const businessMs = Math.min(
      Math.round(clock.afterRealMs(fireAtMs - nowMs) / 1_000) * 1_000,
      LAST_DATE_MS,
    );
    return {
      period: periodAt(schedule, businessMs),
      beginsAt: new Date(fireAtMs).toISOString(),
      payDate: firstPayDate(businessMs),
    };
  });
}

async function everHadSchedule(context: ScheduleContext, stored: Playbook): Promise<boolean> {
  const revisions = await playbookRevisions(context.store.db, stored);
  return revisions.some(({ compiled }) => compiled.schedule !== null);
}

function wantedOf(context: ScheduleContext, stored: Playbook): LauncherSchedule | null {
  const { schedule } = stored.compiled;
  if (schedule === null) return null;
  const { name: business } = profileOf(context, stored);
  return launcherOf({ playbook: stored.name, business, schedule }, context.nowMs());
}

function profileOf(context: ScheduleContext, { name, business }: Playbook): BusinessProfile {
  return businessNamed(context, business, `playbook “${name}”`);
}

/** Returns the key of a playbook's schedule in Temporal. */
export function keyOf({ business, name: playbook }: PlaybookKey): ScheduleKey {
  return { business, playbook };
}
