import { isoInstant } from "../domain/clock/instants.ts";
import type { ListedRun as Listed, RunList } from "../api/runs.ts";
import type { AnyStatus } from "../api/statuses.ts";
import { CANCELLATION_PHASES } from "../contracts/cancellation.ts";
import { INCIDENT_PHASES } from "../contracts/incident.ts";
import { ONBOARDING_PHASES } from "../contracts/onboarding.ts";
import { LINE } from "../contracts/line-states.ts";
import { RUN_PHASES } from "../contracts/pay-run.ts";
import type { KindShown, WorkflowKindName } from "../contracts/workflow-kinds.ts";
import { askedSinceMs } from "../domain/cancellations/left-to-people.ts";
import { listCancellations } from "../store/cancellations/cancellation-list.ts";
import type { ActionContext } from "../actions/context.ts";
import { topUpsOf } from "../store/deposits/deposits.ts";
import type { Name } from "../domain/names.ts";
import { countLinesWhere } from "../store/lines/line-counts.ts";
import { accountCalled } from "../store/names/account-called.ts";
import { personWaitedFor } from "../domain/runs/shown-phase.ts";
import { calledBill, namesOf } from "../store/names/names.ts";
import { listParkedRetries } from "../store/retries/retries.ts";
import { waitingForIncident } from "../store/lines/retry-cases.ts";
import { type ListedFilter, listedPage, PARKED_PHASE } from "../store/listed/listed.ts";
import { runStands, type Stand } from "../store/runs/run-stand.ts";
import { clockAt, clockOfRow } from "../store/sql/clocks.ts";
import { findEach } from "../store/sql/records.ts";
import { businessNowMs } from "./moment.ts";
import { waitingForNow } from "./status/left-items.ts";
import { cancellationStand, cancellationStatus } from "./status/cancellation.ts";
import {
  incidentEndedAt,
  incidentStand,
  incidentStatus,
  incidentWaitsFor,
} from "./status/incident.ts";
import { onboardingStand, onboardingStatus } from "./status/onboarding.ts";
import { retryStand, retryStatus } from "./status/retry.ts";
import {
  FIRST_PAGE,
  phaseAndOutcome,
  runFacts,
  statusOf,
  type StatusPage,
  timesOf,
} from "./status/run.ts";

/** A run of any kind, as the list shows it. */
type ListedRun = Listed & { readonly kind: KindShown };

/** Most cancellations of which the list asks whether they have left something to a person. */
const LEFT_MOST = 1_000;

type ReportContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">;

/** How people see the workflows of a kind. */
interface ReportedKind {
  /** Phases of its entries. */
  readonly phases: readonly string[];
  /** Returns its entries in the list of runs. */
  readonly items: (context: ReportContext, ids: readonly string[]) => Promise<ListedRun[]>;
  /** Returns where one stands, from the store alone; undefined if no such id is of this kind. */
  readonly status: (
    context: ReportContext,
    id: string,
    page: StatusPage,
  ) => Promise<AnyStatus | undefined>;
}

const REPORTED: Readonly<Record<WorkflowKindName, ReportedKind>> = {
  payRun: { phases: RUN_PHASES, items: payRuns, status: statusOf },
  cancelScheduledPayments: {
    phases: CANCELLATION_PHASES,
    items: cancellations,
    status: cancellationStatus,
  },
  fundingIncident: { phases: INCIDENT_PHASES, items: incidents, status: incidentStatus },
  kybOnboarding: {
    phases: ONBOARDING_PHASES,
    items: onboardings,
    status: ({ store }, id) => onboardingStatus(store.db, id),
  },
  retryFailedPayment: { phases: [PARKED_PHASE], items: parkedRetries, status: retryStatus },
};

/** Phases of all kinds of workflows in the list. */
export const LISTED_PHASES: readonly string[] = [
  ...new Set(Object.values(REPORTED).flatMap(({ phases }) => phases)),
];

/** Returns where a workflow of any kind stands; undefined if the store knows no such id. */
export async function anyStatus(
  context: ReportContext,
  id: string,
  page = FIRST_PAGE,
): Promise<AnyStatus | undefined> {
  for (const { status } of Object.values(REPORTED)) {
    const found = await status(context, id, page);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Lists pay runs, cancellations, onboardings, incidents and the failed payments that wait for a
 * person, the latest launch first, from the store alone.
 *
 * @param businessIds of the API; undefined stands for all
 */
export async function listEverything(
  context: ReportContext,
  businessIds: readonly string[] | undefined,
  { page, pageSize, ...filter }: ListedFilter & Pick<StatusPage, "page" | "pageSize">,
): Promise<RunList> {
  const { db } = context.store;
  const asksOf =
    filter.needsAction === undefined ? undefined : await whatAsks(context, businessIds);
  const known = { businessIds, clock: asksOf?.clock ?? clockAt(0), left: asksOf?.left ?? [] };
  const { ids, totalCount } = await listedPage(db, { ...filter, ...known }, { page, pageSize });
  const items = new Map<string, ListedRun>();
  for (const [kind, some] of Map.groupBy(ids, (each) => each.kind)) {
    const found = await REPORTED[kind].items(
      context,
      some.map(({ id }) => id),
    );
    for (const item of found) items.set(item.id, item);
  }
  return {
    items: ids.flatMap(({ id }) => items.get(id) ?? []),
    totalCount,
    page,
    pageSize,
    nextPage: page * pageSize < totalCount ? page + 1 : null,
  };
}

/** Returns what the store alone can't say about who waits for a person. */
async function whatAsks(context: ReportContext, businessIds: readonly string[] | undefined) {
  const clocks = new Map<string, number>();
  for (const profile of context.profiles.all()) {
    const isListed = businessIds?.includes(profile.businessId) ?? true;
    if (isListed) clocks.set(profile.businessId, await businessNowMs(context, profile.name));
  }
  const nowMs = context.nowMs();
  // A clock that can't be read is 0, and what is left to people is judged by real time then.
  const earliestMs = Math.min(nowMs, ...[...clocks.values()].filter((ms) => ms > 0));
  const left: string[] = [];
  const asked = { leftSinceMs: askedSinceMs(earliestMs), limit: LEFT_MOST };
  for (const businessId of clocks.keys()) {
    for (const each of await listCancellations(context.store.db, { ...asked, businessId })) {
      if ((await waitingForNow(context, each)) !== null) left.push(each.workflowId);
    }
  }
  return { clock: clockOfRow("runs.business_id", clocks, nowMs), left };
}

async function payRuns(context: ReportContext, ids: readonly string[]): Promise<ListedRun[]> {
  const { db } = context.store;
  const runs = await findEach(db, "runs", {}, "run_id", ids);
  const completed = runs.filter((run) => run.phase.startsWith("completed"));
  const odd = await countLinesWhere(
    db,
    completed.map(({ runId }) => runId),
    [...LINE.cameBack, ...LINE.calledBack],
  );
  const items: ListedRun[] = [];
  for (const [business, ofOne] of Map.groupBy(runs, (run) => run.business)) {
    const own = ofOne.map(({ runId }) => runId);
    const stands = await runStands(db, own, await businessMsOf(context, business));
    for (const run of ofOne) {
      items.push({
        ...runFacts(run),
        ...phaseAndOutcome(run.phase, Object.fromEntries(odd.get(run.runId) ?? [])),
        totalCents: run.totalCents,
        ...timesOf(run),
        ...(stands.get(run.runId) ?? OVER),
      });
    }
  }
  return items;
}

/** The stand of a run that is deleted while it is listed. */
const OVER: Stand = { needsAction: false, isFinal: true };

/** Returns the clock of a business; real time if it is no longer configured. */
function businessMsOf(context: ReportContext, business: string): Promise<number> {
  const isKnown = context.profiles.get(business) !== undefined;
  return isKnown ? businessNowMs(context, business) : Promise.resolve(context.nowMs());
}

async function cancellations(context: ReportContext, ids: readonly string[]): Promise<ListedRun[]> {
  const listed = await listCancellations(context.store.db, { ids, limit: ids.length });
  return Promise.all(
    listed.map(async (each) => {
      const waitingFor = await waitingForNow(context, each);
      const ended = each.endedAtMs !== null;
      return {
        ...without,
        id: each.workflowId,
        kind: each.policy.kind,
        business: each.business,
        playbook: each.playbook === "" ? null : each.playbook,
        phase: each.phase,
        waitingFor,
        totalCents: each.totalCents,
        launchedBy: each.requestedBy,
        launchedAt: isoInstant(each.requestedAtMs),
        endedAt: each.endedAtMs === null ? null : isoInstant(each.endedAtMs),
        ...cancellationStand({ ended, waitingFor, withheld: each.withheld ? 1 : 0 }),
      };
    }),
  );
}

async function incidents(
  { store: { db } }: ReportContext,
  ids: readonly string[],
): Promise<ListedRun[]> {
  const items: ListedRun[] = [];
  for (const incident of await findEach(db, "incidents", {}, "workflow_id", ids)) {
    const bills = await waitingForIncident(db, incident);
    items.push({
      ...without,
      id: incident.workflowId,
      kind: "funding-incident",
      business: incident.business,
      phase: incident.phase,
      waitingFor: incidentWaitsFor(
        incident,
        await accountCalled(db, incident.businessId, incident.sourceId),
      ),
      totalCents: bills.reduce((sum, { amountCents }) => sum + amountCents, 0),
      launchedAt: isoInstant(incident.openedAtMs),
      endedAt: incidentEndedAt(incident),
      ...incidentStand(incident, await topUpsOf(db, incident.workflowId)),
    });
  }
  return items;
}

async function onboardings(
  { store: { db } }: ReportContext,
  ids: readonly string[],
): Promise<ListedRun[]> {
  const found = await findEach(db, "onboardings", {}, "workflow_id", ids);
  return found.map((each) => ({
    ...without,
    id: each.workflowId,
    kind: "kyb-onboarding",
    business: each.business,
    playbook: each.playbook,
    phase: each.phase,
    waitingFor: each.waitingFor,
    totalCents: 0,
    launchedBy: each.launchedBy,
    launchedAt: isoInstant(each.launchedAtMs),
    endedAt: each.endedAtMs === null ? null : isoInstant(each.endedAtMs),
    ...onboardingStand(each),
  }));
}

/** Lists parked retries; other retries continue by themselves and are shown in their runs. */
async function parkedRetries(
  { store: { db } }: ReportContext,
  ids: readonly string[],
): Promise<ListedRun[]> {
  const parked = await listParkedRetries(db, ids);
  const called = new Map<string, Name>();
  for (const [owner, bills] of Map.groupBy(parked, (retry) => retry.businessId)) {
    const ids = bills.map(({ payableId }) => payableId);
    for (const [id, name] of await namesOf(db, owner, "bill", ids)) called.set(id, name);
  }
  return parked.map((retry) => ({
    ...without,
    ...calledBill(called.get(retry.payableId)),
    id: retry.workflowId,
    kind: "retry-failed-payment",
    business: retry.business,
    playbook: retry.playbook,
    period: retry.period,
    phase: PARKED_PHASE,
    waitingFor: personWaitedFor(retry.reason),
    totalCents: retry.openCents,
    launchedAt: isoInstant(retry.startedAtMs),
    ...retryStand(retry),
  }));
}

const without = {
  playbook: null,
  period: null,
  planHash: null,
  launchedBy: null,
  endedAt: null,
} as const;
