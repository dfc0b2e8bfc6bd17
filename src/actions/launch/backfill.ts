import { DAY_MS } from "../../contracts/durations.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { PlaybookSchedule } from "../../contracts/playbook.ts";
import { addDays } from "../../domain/clock/dates.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import {
  catchUpText,
  fireOf,
  firesBetween,
  nextPeriod,
} from "../../domain/clock/schedule-period.ts";
import type { StoredPlaybook } from "../../store/playbooks/playbooks.ts";
import type { Db } from "../../store/index.ts";
import { scheduledSinceMs } from "../../store/playbooks/scheduled-since.ts";
import { launchedBySchedule } from "../../domain/clock/schedule-triggers.ts";
import { findRunOfPeriod, runThatCounts } from "../../store/runs/run-of-period.ts";
import { appliedOnSandboxMs } from "../../store/playbooks/schedule-wishes.ts";
import type { Principal } from "../principal.ts";
import { unprocessable } from "../errors.ts";
import { businessNamed } from "../businesses.ts";
import { launch } from "./launch.ts";
import type { Launched } from "./launcher.ts";
import type { ScheduleContext } from "../playbooks/schedules.ts";

/** When a playbook got its present schedule, and now, both on the business clock. */
interface Span {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** True if the business has a clock of its own, as a sandbox does. */
  readonly sandbox: boolean;
  /** Returns what the business clock shows at an instant in real time. */
  readonly shownAt: (realMs: number) => number;
}

/**
 * Launches the runs that a schedule has missed: those that should have begun within the playbook's
 * `catchUp`, each once, or only the run of the requested period. A run that would have begun before
 * the playbook had this schedule was not missed.
 *
 * @throws GatewayError 422 for a period that the schedule doesn't have, or that was missed too long
 * ago
 */
export async function backfill(
  context: ScheduleContext,
  stored: Pick<StoredPlaybook, "business" | "name" | "compiled">,
  asked: string | undefined,
  by: Principal,
): Promise<readonly (Launched & { readonly period: string })[]> {
  const { schedule } = stored.compiled;
  if (schedule === null) throw unprocessable("no_schedule", `${stored.name} has no schedule.`);
  const profile = businessNamed(context, stored.business, "");
  const span = await spanOf(context, profile, stored);
  const missed = missedPeriods(schedule, span);
  if (asked !== undefined && !missed.includes(asked)) {
    throw unprocessable("not_missed", whyNot(stored.name, schedule, asked, span));
  }
  const { business, name: playbook } = stored;
  const { businessId } = profile;
  // In a transaction, so that a repeat is about the same runs.
  const due = await context.store.transactionOf(
    businessId,
    async (trx) => {
      if (asked !== undefined) return [asked];
      const open: string[] = [];
      for (const period of missed) {
        const of = { businessId, playbook, period };
        if (await isOpen(trx, of, schedule, span)) open.push(period);
      }
      return open;
    },
    { part: "missed periods" },
  );
  const launched = [];
  for (const period of due) {
    const request = { playbook, business, period, once: true };
    launched.push({ period, ...(await launch(context, request, by)) });
  }
  return launched;
}

/**
 * Reads the span by the business clock, since periods are its dates, as launches name them. A
 * sandbox's clock may have been set or stepped since, so the trail keeps what it showed when a
 * playbook was applied.
 */
async function spanOf(
  context: ScheduleContext,
  profile: BusinessProfile,
  stored: Pick<StoredPlaybook, "business" | "name" | "compiled">,
): Promise<Span> {
  const nowMs = context.nowMs();
  const of = { businessId: profile.businessId, playbook: stored.name };
  const sinceMs = await scheduledSinceMs(context.store.db, of, stored);
  if (!profile.sandbox) return { sinceMs, nowMs, sandbox: false, shownAt: (realMs) => realMs };
  const clock = await context.clocks.read(profile);
  const shownMs = await appliedOnSandboxMs(context.store.db, of, sinceMs);
  const shownAt = (realMs: number): number => clock.afterRealMs(realMs - nowMs);
  return { sinceMs: shownMs ?? shownAt(sinceMs), nowMs: clock.businessMs, sandbox: true, shownAt };
}

/**
 * True if nobody has made up for a missed run: launched it after its time, even if it had no bill.
 * One that was launched early and had none says nothing about its period.
 */
async function isOpen(
  db: Db,
  of: Parameters<typeof findRunOfPeriod>[1],
  schedule: PlaybookSchedule,
  { shownAt }: Span,
): Promise<boolean> {
  const has = await runThatCounts(db, of, launchedBySchedule(of.playbook));
  if (has !== undefined) return false;
  const latest = await findRunOfPeriod(db, of);
  const { fireAtMs } = fireOf(schedule, of.period);
  return latest === undefined || shownAt(latest.launchedAtMs) < fireAtMs;
}

function missedPeriods(schedule: PlaybookSchedule, { sinceMs, nowMs }: Span): string[] {
  const fromMs = Math.max(sinceMs, nowMs - schedule.catchUpDays * DAY_MS);
  return firesBetween(schedule, fromMs, nowMs).map(({ period }) => period);
}

function whyNot(
  name: string,
  schedule: PlaybookSchedule,
  period: string,
  { sinceMs, nowMs, sandbox }: Span,
): string {
  const nominal = nextPeriod(schedule, addDays(period, -1));
  if (nominal !== period) {
    return `${period} is not a period of ${name}; the next one after it is ${nominal}.`;
  }
  const { fireAtMs } = fireOf(schedule, period);
  const clock = sandbox ? " by the sandbox's clock" : "";
  if (fireAtMs > nowMs) {
    return `The run of ${period} is not missed: it begins on ${spokenTime(fireAtMs, schedule.zone)}${clock}.`;
  }
  const why =
    fireAtMs <= sinceMs
      ? `was not missed: ${name} runs by this schedule only since ${spokenTime(sinceMs, schedule.zone)}${clock}`
      : `was missed longer ago than ${catchUpText(schedule)} allows`;
  return `The run of ${period} ${why}; “payrun launch ${name} --period ${period}” makes it all the same.`;
}
