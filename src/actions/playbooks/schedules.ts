import { onlyPlans } from "../../domain/plan-only.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { firstPayDate, nextFires, periodAt } from "../../domain/clock/schedule-period.ts";
import { launcherOf } from "../../domain/clock/schedule-triggers.ts";
import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { withSchedule } from "../../store/playbooks/schedule-turns.ts";
import {
  noteOutsideAct,
  type ScheduleWish,
  scheduleWish,
} from "../../store/playbooks/schedule-wishes.ts";
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

const RUNS_SHOWN = 5;

/** A sandbox's clock that runs fast comes to the end of what dates can say. */
const LAST_DATE_MS = Date.UTC(9000, 0, 1);

/** Somebody else's act on the same schedule takes seconds at most. */
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
  /** `missing` and `differs`: applying the playbook again puts it right. */
  readonly state: "active" | "paused" | "missing" | "differs";
  /** Present if somebody deleted it: it begins nothing until its playbook is applied again. */
  readonly deleted?: true;
  /** Present if its runs only plan. */
  readonly planOnly?: true;
  /** Whether it is held up; where it is missing, whether it will be once it is made again. */
  readonly paused: boolean;
  readonly note: string | null;
  readonly zone: string;
  /**
   * The next runs: when they begin, in real time; and on the business clock, which only a sandbox
   * has of its own, their period and the first day on which they can pay. Empty while the clock of
   * a sandbox can't be read.
   */
  readonly next: readonly {
    readonly period: string;
    readonly beginsAt: string;
    readonly payDate: string;
  }[];
}

/**
 * Does something with a playbook's schedule while nobody else does.
 *
 * @throws GatewayError 409 where somebody else is at it all the time
 */
export async function alone<T extends object>(
  { store }: ScheduleContext,
  { business, name: playbook }: PlaybookKey,
  work: () => Promise<T>,
): Promise<T> {
  const done = await withSchedule(store.db, { business, playbook }, TURN_MS, work);
  if (done !== undefined) return done;
  throw conflict(
    "schedule_busy",
    `Somebody else is changing the schedule of ${playbook} right now: try again in a moment.`,
  );
}

/**
 * Brings Temporal's schedule of a playbook in step with its revision in force: made, changed, or
 * deleted where the playbook has none. Doing it again changes nothing, and a pause stays, also of
 * a schedule that Temporal has lost.
 *
 * @returns the note of its pause, or null where it isn't paused
 * @throws GatewayError 503 where Temporal can't be reached; applying the playbook again completes it
 */
export async function syncSchedule(
  context: ScheduleContext,
  stored: Playbook,
): Promise<{ readonly pause: string | null }> {
  const wanted = wantedOf(context, stored);
  // What never ran by itself needs no Temporal to be stored.
  if (wanted === null && !(await everHadSchedule(context, stored))) return { pause: null };
  return alone(context, stored, async () => {
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
 * How Temporal keeps a playbook's schedule and what people want of it, what they did in Temporal
 * itself included, which is noted. To be asked `alone`.
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
    await store.transactionOf(businessId, (trx) => noteOutsideAct(trx, of, kept, context.nowMs()));
  }
  return { kept, wish: await scheduleWish(store.db, of) };
}

/** Makes or changes a schedule: one that is missing as it should stand; none, where there is none. */
export async function makeSchedule(
  context: ScheduleContext,
  stored: Playbook,
  wish: ScheduleWish,
): Promise<void> {
  const wanted = wantedOf(context, stored);
  if (wanted === null) return;
  await persistently(context.temporal, () => putSchedule(context.temporal, wanted, wish.pause));
}

/** What a playbook's schedule is and does next, or null where the playbook has none. */
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

/** How a schedule stood that Temporal no longer has. */
async function lostOf(
  { store }: ScheduleContext,
  { businessId }: BusinessProfile,
  playbook: string,
): Promise<Pick<ScheduleState, "paused" | "note"> & { readonly deleted: boolean }> {
  const { pause, deleted } = await scheduleWish(store.db, { businessId, playbook });
  return { paused: pause !== null, note: pause, deleted };
}

/**
 * Temporal wakes the launcher in real time; it names its run by the business clock. None where that
 * can't be read: what else is known of a schedule, and of others, is shown all the same.
 */
async function nextRuns(
  context: ScheduleContext,
  profile: BusinessProfile,
  schedule: PlaybookSchedule,
): Promise<ScheduleItem["next"]> {
  const nowMs = context.nowMs();
  const clock = profile.sandbox
    ? await context.clocks.read(profile).catch(() => undefined)
    : { businessMs: nowMs, scale: 1 };
  if (clock === undefined) return [];
  return nextFires(schedule, nowMs, RUNS_SHOWN).map(({ fireAtMs }) => {
    const aheadMs = (fireAtMs - nowMs) * clock.scale;
    // To the second: a reading that is some milliseconds old must not say the day before.
    const businessMs = Math.min(
      Math.round((clock.businessMs + aheadMs) / 1_000) * 1_000,
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

/** What Temporal's schedules are known by. */
export function keyOf({ business, name: playbook }: PlaybookKey): ScheduleKey {
  return { business, playbook };
}
