import { DAY_MS, HOUR_MS } from "../../src/contracts/durations.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PayrunActivities, ScheduledLaunch } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { zonedDate } from "../../src/domain/clock/new-york.ts";
import {
  catchUpText,
  fireOf,
  periodAt,
  periodBeginningOn,
} from "../../src/domain/clock/schedule-period.ts";
import { getPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { recordLaunch } from "../../src/store/runs/runs.ts";
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

type Launch = Parameters<PayrunActivities["launchRun"]>[0];

/**
 * Launches the run that a schedule begins on the day that has come, by the playbook as it is stored
 * now.
 *
 * Launches once a period, however often it is woken: the clock doesn't launch a rejected or
 * cancelled run again. Launches nothing that comes later than the playbook's `catchUp` allows, or
 * while the schedule is paused.
 */
export async function launchScheduled(
  context: ActivityContext,
  { business, playbook, nominalMs }: Launch,
): Promise<ScheduledLaunch> {
  const stored = await getPlaybook(context.store.db, { business, name: playbook });
  const policy = stored?.compiled;
  const schedule = policy?.schedule ?? null;
  if (stored === undefined || policy?.kind !== "pay-run" || schedule === null) {
    return nothing(`The playbook ${playbook} of ${business} has no schedule any more.`);
  }
  if (nominalMs > Date.now() + ON_TIME_MS) {
    return nothing(
      `The time of this launch has not come yet: ${new Date(nominalMs).toISOString()}.`,
    );
  }
  const today = zonedDate(nominalMs, schedule.zone);
  const begins = periodBeginningOn(schedule, today);
  if (begins === null) return nothing(`No run of ${playbook} begins on ${today}.`);
  const { fireAtMs } = fireOf(schedule, begins);
  // If a local time occurs twice, when clocks are set back, Temporal may take the second one.
  const lateMs = Date.now() - Math.max(fireAtMs, nominalMs);
  if (lateMs > Math.max(ON_TIME_MS, schedule.catchUpDays * DAY_MS)) {
    return nothing(
      `The run of ${begins} was missed by more than ${catchUpText(schedule)}. To make it: payrun launch ${playbook} --period ${begins}.`,
    );
  }
  const profile = context.profileOf(business);
  const held = await heldUp(context, profile, playbook);
  if (held !== null) {
    return nothing(
      `The run of ${begins} was not launched: the schedule ${held}. To make it: payrun launch ${playbook} --period ${begins}.`,
    );
  }
  const clock = await context.clockOf(business).now();
  // A sandbox's days are not the real ones: its runs are named after its own.
  const period = clock.sandbox ? periodAt(schedule, clock.businessMs) : begins;
  const launchedBy = `schedule of ${playbook}`;
  const { runId, created, run } = await context.store.transactionOf(profile.businessId, (trx) =>
    recordLaunch(trx, {
      businessId: profile.businessId,
      business,
      playbook,
      playbookRevision: stored.revision,
      policy,
      period,
      launchedBy,
      launchedByTokenId: null,
      nowMs: Date.now(),
      once: true,
    }),
  );
  if (!ENDED_PHASES.includes(run.phase)) {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.payRun, {
      runId,
      business,
      playbook,
      period,
      launchedBy,
    });
  }
  return { runId, text: created ? `Launched \`${runId}\`.` : `\`${runId}\` was there already.` };
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

function nothing(text: string): ScheduledLaunch {
  return { runId: null, text };
}
