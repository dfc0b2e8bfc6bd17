import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/contracts/durations.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PayrunActivities, ScheduledLaunch } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook, PlaybookSchedule } from "../../src/contracts/playbook.ts";
import { zonedWallTime } from "../../src/domain/clock/new-york.ts";
import {
  catchUpText,
  firesBetween,
  nextFire,
  periodAt,
  type ScheduledFire,
} from "../../src/domain/clock/schedule-period.ts";
import { launchedBySchedule } from "../../src/domain/clock/schedule-triggers.ts";
import { scheduledSinceMs } from "../../src/store/playbooks/scheduled-since.ts";
import { getPlaybook, type StoredPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { launchStored } from "../../src/store/runs/launch-in-trail.ts";
import { launchedSince, runThatCounts } from "../../src/store/runs/run-of-period.ts";
import { scheduleWish } from "../../src/store/playbooks/schedule-wishes.ts";
import { readSchedule } from "../../src/temporal/schedules.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import { WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import type { ActivityContext } from "../shared/context.ts";

/**
 * A launcher that waited for a busy worker for at most this long has missed nothing; clocks differ
 * by less.
 */
const ON_TIME_MS = HOUR_MS;

/** A resumption in Temporal's UI is in the trail only after the janitor's next pass. */
const NOTED_MS = 2 * MINUTE_MS;

type Launch = Parameters<PayrunActivities["launchRun"]>[0];

/**
 * Launches the runs that a playbook's schedule, as it is stored now, should have begun by now.
 *
 * Launches each period once, however often it is woken and by whom: the clock doesn't launch a
 * rejected or cancelled run again. Launches nothing that comes later than the playbook's `catchUp`
 * allows, that should have begun before the playbook had this schedule, or while it is paused.
 *
 * @param wokenMs when the launcher was woken, on the clock of Temporal's server, by which it is
 * woken; this process's own may be behind
 */
export async function launchRun(
  context: ActivityContext,
  { business, playbook }: Launch,
  wokenMs: number,
): Promise<ScheduledLaunch> {
  const stored = await getPlaybook(context.store.db, { business, name: playbook });
  const policy = stored?.compiled;
  const schedule = policy?.schedule ?? null;
  if (stored === undefined || policy?.kind !== "pay-run" || schedule === null) {
    return { text: `The playbook ${playbook} of ${business} has no schedule any more.` };
  }
  const profile = context.profileOf(business);
  const { due, missed } = await dueNow(context, profile, { ...stored, schedule }, wokenMs);
  const last = due.at(-1);
  if (last === undefined) {
    const begins = new Date(nextFire(schedule, wokenMs).fireAtMs).toISOString();
    return {
      text:
        missed === undefined
          ? `No run of ${playbook} is due; the next one begins on ${begins}.`
          : `The run of ${missed.period} was missed by more than ${catchUpText(schedule)}. To make it: payrun launch ${playbook} --period ${missed.period}.`,
    };
  }
  const held = await heldUp(context, profile, playbook);
  if (held !== null) {
    return {
      text: `The run of ${last.period} was not launched: the schedule ${held}. To make it: payrun launch ${playbook} --period ${last.period}.`,
    };
  }
  const launcher = { profile, stored, policy };
  const clock = await context.clockOf(business).now();
  if (!profile.sandbox) {
    const texts: string[] = [];
    for (const { period } of due) texts.push(await launchOnce(context, launcher, period));
    return { text: texts.join(" ") };
  }
  // A sandbox's days are not the real ones: its runs are named after its own.
  const period = periodAt(schedule, clock.businessMs);
  const of = { businessId: profile.businessId, playbook, launchedBy: launchedBySchedule(playbook) };
  const has = await runThatCounts(context.store.db, { ...of, period }, of.launchedBy);
  if (has === undefined && (await launchedSince(context.store.db, of, last.fireAtMs))) {
    return { text: `No run of ${playbook} is due; the last one has been launched.` };
  }
  return { text: await launchOnce(context, launcher, period) };
}

/**
 * Returns the runs that should have begun by now and may still begin, in order, or else the last one
 * that it is too late for.
 */
async function dueNow(
  { store }: ActivityContext,
  { businessId }: BusinessProfile,
  stored: Pick<StoredPlaybook, "business" | "name" | "compiled"> & {
    readonly schedule: PlaybookSchedule;
  },
  wokenMs: number,
): Promise<{ readonly due: readonly ScheduledFire[]; readonly missed: ScheduledFire | undefined }> {
  const { schedule, name: playbook } = stored;
  const of = { businessId, playbook };
  const { resumedMs } = await scheduleWish(store.db, of);
  const sinceMs = Math.max(
    await scheduledSinceMs(store.db, of, stored),
    (resumedMs ?? 0) - NOTED_MS,
  );
  const fromMs = Date.now() - Math.max(ON_TIME_MS, schedule.catchUpDays * DAY_MS);
  const all = firesBetween(schedule, Math.max(sinceMs, fromMs - LOOKS_BACK_MS), wokenMs);
  const due = all.filter(({ fireAtMs }) => lastFireMs(schedule, fireAtMs) >= fromMs);
  return { due, missed: all.at(-1) };
}

/** How far back a run that is too late is still named. */
const LOOKS_BACK_MS = 31 * DAY_MS;

/** If a local time occurs twice, when clocks are set back, Temporal may take the second one. */
function lastFireMs({ at, zone }: PlaybookSchedule, fireAtMs: number): number {
  const againMs = fireAtMs + HOUR_MS;
  return zonedWallTime(againMs, zone) === at ? againMs : fireAtMs;
}

/**
 * Launches a period's run, unless it has one. A run of somebody else that had nothing to pay doesn't
 * count: the schedule plans once, at its time.
 *
 * @returns what it did, for people
 */
async function launchOnce(
  context: ActivityContext,
  {
    profile: { businessId, name: business },
    stored: { name: playbook, revision: playbookRevision },
    policy,
  }: {
    readonly profile: BusinessProfile;
    readonly stored: StoredPlaybook;
    readonly policy: PayRunPlaybook;
  },
  period: string,
): Promise<string> {
  const launchedBy = launchedBySchedule(playbook);
  const of = { businessId, business, playbook, period };
  const { runId, created, run } = await context.store.transactionOf(businessId, async (trx) => {
    const has = await runThatCounts(trx, of, launchedBy);
    if (has !== undefined) return { runId: has.runId, created: false, run: has };
    return launchStored(trx, {
      ...of,
      playbookRevision,
      policy,
      launchedBy,
      launchedByTokenId: null,
      nowMs: Date.now(),
    });
  });
  if (!ENDED_PHASES.includes(run.phase)) {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.payRun, run);
  }
  return created ? `Launched \`${runId}\`.` : `\`${runId}\` was there already.`;
}

/**
 * Returns why the schedule keeps a launch from starting; null if it doesn't. A launcher that had to
 * wait for a worker may begin after its schedule was paused or deleted. Temporal is asked, because
 * it also knows at once what was done there.
 */
async function heldUp(
  { store, temporal }: ActivityContext,
  { businessId, name: business }: BusinessProfile,
  playbook: string,
): Promise<string | null> {
  const kept = await readSchedule(temporal, { business, playbook }, null);
  if (kept?.paused === true) return `is paused (${kept.note ?? "without a note"})`;
  if (kept !== undefined) return null;
  const { deleted, pause } = await scheduleWish(store.db, { businessId, playbook });
  if (pause !== null) return `was paused (${pause}) when Temporal lost it`;
  return deleted ? "was deleted" : null;
}
