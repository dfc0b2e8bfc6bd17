import type {
  Overview,
  WaitingCancellation,
  WaitingDeposit,
  WaitingRelease,
  WaitingRun,
} from "../api/overview.ts";
import type { StateSums } from "../api/runs.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { whyNotCounted } from "../actions/decide.ts";
import type { ActionContext } from "../actions/context.ts";
import type { Principal } from "../actions/principal.ts";
import { askedRoles, askOf } from "../domain/approvals/asks.ts";
import { addDays } from "../domain/clock/dates.ts";
import { newYorkDate, weekOf } from "../domain/clock/new-york.ts";
import { waitingBills } from "../store/approvals/approval-waits.ts";
import { listIncidents } from "../store/incidents/incidents.ts";
import { type DaySum, sumsByDay } from "../store/lines/day-sums.ts";
import { sumOfParked } from "../store/lines/parked-lines.ts";
import { listRuns, type Run } from "../store/runs/runs.ts";
import { businessNowMs, momentAt } from "./moment.ts";
import { deadlineOf } from "./status/run.ts";
import { waitingCancellations } from "./waiting-cancellations.ts";
import { waitingDeposits } from "./waiting-deposits.ts";
import { WAITING_MOST, waitingReleases } from "./waiting-releases.ts";
import { hasRole } from "../domain/approvals/token.ts";
import { NOTHING, plus } from "../domain/counted.ts";

type OverviewContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">;

/**
 * Returns what a person has to deal with today: what waits for them, what needs a person, and this
 * week's money.
 */
export async function overviewOf(
  context: OverviewContext,
  profiles: readonly BusinessProfile[],
  principal: Principal,
): Promise<Overview> {
  const businesses = [];
  const waiting: WaitingRun[] = [];
  const releases: WaitingRelease[] = [];
  const deposits: WaitingDeposit[] = [];
  const cancellations: WaitingCancellation[] = [];
  for (const profile of profiles) {
    const { name, businessId } = profile;
    const { db } = context.store;
    const businessMs = await businessNowMs(context, name);
    const incidents = await listIncidents(db, businessId);
    businesses.push({
      business: name,
      ...momentAt(context, name, businessMs),
      parked: await sumOfParked(db, businessId),
      incidents: incidents.filter(({ phase }) => phase === "open").length,
      days: await daysOf(context, businessId, businessMs === 0 ? context.nowMs() : businessMs),
    });
    const filter = { businessId, undecidedAtMs: businessMs, limit: WAITING_MOST };
    for (const run of await listRuns(db, filter)) {
      const asked = await waitingRun(context, run, principal, businessMs);
      // A run that was decided meanwhile waits for nobody.
      if (asked.waiting.count > 0) waiting.push(asked);
    }
    releases.push(...(await waitingReleases(context, profile, principal)));
    deposits.push(...(await waitingDeposits(context, profile, principal, businessMs)));
    cancellations.push(...(await waitingCancellations(context, profile, principal)));
  }
  return { businesses, waiting: waiting.toSorted(byDeadline), releases, deposits, cancellations };
}

function byDeadline(one: WaitingRun, other: WaitingRun): number {
  return (one.decideBy ?? "9").localeCompare(other.decideBy ?? "9");
}

async function waitingRun(
  context: OverviewContext,
  run: Run,
  principal: Principal,
  businessMs: number,
): Promise<WaitingRun> {
  const { db } = context.store;
  const { runId, business, playbook, period, launchedBy, policy } = run;
  const asksFor = (bills: Awaited<ReturnType<typeof waitingBills>>) =>
    bills.flatMap((some) => askOf(policy, some) ?? []);
  const now = { runId, businessMs };
  const all = asksFor(await waitingBills(db, now));
  const mayCount = (await whyNotCounted(context, run, principal)) === undefined;
  const mine = mayCount
    ? asksFor(await waitingBills(db, now, principal.name)).filter((ask) =>
        hasRole(principal, askedRoles(ask)),
      )
    : [];
  const others = all.flatMap(askedRoles);
  return {
    id: runId,
    business,
    playbook,
    period,
    launchedBy,
    waiting: all.reduce(plus, NOTHING),
    yours: mine.reduce(plus, NOTHING),
    decideBy: await deadlineOf(db, run),
    waitsFor: [...new Set(others)],
  };
}

/** Returns the days of this week and the next one, without those that have no bills. */
async function daysOf({ store }: OverviewContext, businessId: string, nowMs: number) {
  const { monday, sunday } = weekOf(newYorkDate(nowMs));
  const sums = await sumsByDay(store.db, businessId, { from: monday, to: addDays(sunday, 7) });
  return [...Map.groupBy(sums, ({ executionDate }) => executionDate)]
    .map(([date, of]) => ({ date, byState: byStateOf(of) }))
    .toSorted((one, other) => one.date.localeCompare(other.date));
}

function byStateOf(sums: readonly DaySum[]): StateSums {
  return Object.fromEntries(sums.map(({ state, count, cents }) => [state, { count, cents }]));
}
