import type { ListedRun as Listed } from "../api/runs.ts";
import type { AnyStatus } from "../api/statuses.ts";
import { definedOnly } from "../contracts/defined-only.ts";
import { CANCELLATION_PHASES } from "../contracts/cancellation.ts";
import { INCIDENT_PHASES } from "../contracts/incident.ts";
import { ONBOARDING_PHASES } from "../contracts/onboarding.ts";
import { RUN_PHASES, type RunPhase } from "../contracts/pay-run.ts";
import type { KindShown, WorkflowKindName } from "../contracts/workflow-kinds.ts";
import { listCancellations } from "../store/cancellations/cancellation-list.ts";
import type { ActionContext } from "../actions/context.ts";
import type { Cancellation } from "../store/cancellations/cancellations.ts";
import { listIncidents } from "../store/incidents/incidents.ts";
import type { Db } from "../store/index.ts";
import { topUpsOf } from "../store/deposits/deposits.ts";
import type { Name } from "../domain/names.ts";
import { CAME_BACK } from "../domain/runs/after-end.ts";
import { countLinesWhere } from "../store/lines/line-counts.ts";
import { accountCalled } from "../store/names/account-called.ts";
import { personWaitedFor } from "../domain/runs/shown-phase.ts";
import { calledBill, namesOf } from "../store/names/names.ts";
import { listParkedRetries } from "../store/retries/retries.ts";
import { waitingForIncident } from "../store/lines/retry-cases.ts";
import { listRuns } from "../store/runs/runs.ts";
import { runStands } from "../store/runs/run-stand.ts";
import { businessNowMs } from "./moment.ts";
import { waitingForNow } from "./status/left-items.ts";
import { cancellationStand, cancellationStatus } from "./status/cancellation.ts";
import {
  incidentEndedAt,
  incidentStand,
  incidentStatus,
  incidentWaitsFor,
} from "./status/incident.ts";
import { onboardingItems, onboardingStatus } from "./status/onboarding.ts";
import { retryStand, retryStatus } from "./status/retry.ts";
import {
  FIRST_PAGE,
  phaseAndOutcome,
  runFacts,
  statusOf,
  type StatusPage,
  timesOf,
} from "./status/run.ts";

interface ListFilter {
  /** The API's businessId; undefined for all. */
  readonly businessId?: string | undefined;
  readonly phase?: string | undefined;
  /** True to list only what waits for a person. */
  readonly needsAction?: boolean | undefined;
  readonly limit: number;
  /** Business-clock instant; undefined if it is unknown. */
  readonly businessMs: number | undefined;
  /** Returns what a cancellation waits for now. */
  readonly waitingForOf: (cancellation: Cancellation) => Promise<string | null>;
}

/** A run of any kind, as the list shows it. */
export type ListedRun = Listed & { readonly kind: KindShown };

type ReportContext = Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">;

/** How people see the workflows of a kind. */
interface ReportedKind {
  /** Phases of its entries. */
  readonly phases: readonly string[];
  /** Returns its entries in the list of runs. */
  readonly list: (db: Db, filter: ListFilter) => Promise<ListedRun[]>;
  /** Returns where one stands, from the store alone; undefined if no such id is of this kind. */
  readonly status: (
    context: ReportContext,
    id: string,
    page: StatusPage,
  ) => Promise<AnyStatus | undefined>;
}

/** The phase that a retry's own status gives: nothing is completed. */
const PARKED_PHASE = "settling" satisfies RunPhase;

const REPORTED: Readonly<Record<WorkflowKindName, ReportedKind>> = {
  payRun: { phases: RUN_PHASES, list: payRuns, status: statusOf },
  cancelScheduledPayments: {
    phases: CANCELLATION_PHASES,
    list: cancellations,
    status: cancellationStatus,
  },
  fundingIncident: { phases: INCIDENT_PHASES, list: incidents, status: incidentStatus },
  kybOnboarding: {
    phases: ONBOARDING_PHASES,
    list: onboardingItems,
    status: ({ store }, id) => onboardingStatus(store.db, id),
  },
  retryFailedPayment: { phases: [PARKED_PHASE], list: parkedRetries, status: retryStatus },
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
 * person, newest first, from the store alone.
 *
 * @param of the API's business ids; undefined stands for all
 */
export async function listEverything(
  context: ReportContext,
  of: readonly (string | undefined)[],
  asked: Omit<ListFilter, "businessId" | "businessMs" | "waitingForOf">,
): Promise<ListedRun[]> {
  const kinds = await Promise.all(
    of.map(async (businessId) => {
      const waitingForOf = (each: Cancellation) => waitingForNow(context, each);
      const business = context.profiles.byBusinessId(businessId ?? "")?.name;
      const businessMs =
        business === undefined ? context.nowMs() : await businessNowMs(context, business);
      const filter = { ...asked, businessId, businessMs, waitingForOf };
      return Promise.all(Object.values(REPORTED).map(({ list }) => list(context.store.db, filter)));
    }),
  );
  return kinds
    .flat(2)
    .toSorted((a, b) => b.launchedAt.localeCompare(a.launchedAt))
    .slice(0, asked.limit);
}

async function payRuns(db: Db, filter: ListFilter): Promise<ListedRun[]> {
  const { businessId, businessMs, phase, needsAction, limit } = filter;
  const known = RUN_PHASES.find((each): each is RunPhase => each === phase);
  if (phase !== undefined && known === undefined) return [];
  // A completed run may have got exceptions since.
  const stored: (RunPhase | undefined)[] =
    known === "completed-with-exceptions" ? [known, "completed"] : [known];
  const lists = stored.map((each) =>
    listRuns(db, {
      ...definedOnly({ businessId, phase: each, needsAction }),
      businessMs,
      busy: true,
      limit,
    }),
  );
  const runs = (await Promise.all(lists)).flat();
  const completed = runs.filter((run) => run.phase.startsWith("completed"));
  const ids = completed.map(({ runId }) => runId);
  const odd = await countLinesWhere(db, ids, [...CAME_BACK, "cancelled"]);
  const stands = await runStands(
    db,
    runs.map(({ runId }) => runId),
    businessMs ?? 0,
  );
  const listed = runs.map((run) => ({
    ...runFacts(run),
    ...phaseAndOutcome(run.phase, Object.fromEntries(odd.get(run.runId) ?? [])),
    totalCents: run.totalCents,
    ...timesOf(run),
    ...(stands.get(run.runId) ?? { needsAction: false, isFinal: true }),
  }));
  return known === undefined ? listed : listed.filter((run) => run.phase === known);
}

async function cancellations(
  db: Db,
  { waitingForOf, ...filter }: ListFilter,
): Promise<ListedRun[]> {
  const { needsAction, limit } = filter;
  // A cancellation that asked for a person may no longer need one.
  const wanted = needsAction === false ? [false, true] : [needsAction];
  const lists = await Promise.all(
    wanted.map((each) => listCancellations(db, { ...filter, needsAction: each })),
  );
  const listed = await Promise.all(
    lists.flat().map(async (each) => ({ ...each, waitingFor: await waitingForOf(each) })),
  );
  const standOf = ({ endedAtMs, waitingFor, withheld }: (typeof listed)[number]) =>
    cancellationStand({ ended: endedAtMs !== null, waitingFor, withheld: withheld ? 1 : 0 });
  const meant = listed.filter(
    (each) => needsAction === undefined || standOf(each).needsAction === needsAction,
  );
  return meant.slice(0, limit).map((each) => ({
    ...without,
    id: each.workflowId,
    kind: each.policy.kind,
    business: each.business,
    playbook: each.playbook,
    phase: each.phase,
    waitingFor: each.waitingFor,
    totalCents: each.totalCents,
    launchedBy: each.requestedBy,
    launchedAt: iso(each.requestedAtMs),
    endedAt: each.endedAtMs === null ? null : iso(each.endedAtMs),
    ...standOf(each),
  }));
}

async function incidents(db: Db, filter: ListFilter): Promise<ListedRun[]> {
  const { businessId, phase, needsAction, limit } = filter;
  const wanted = (await listIncidents(db, businessId))
    .filter((each) => phase === undefined || each.phase === phase)
    .filter((each) => needsAction === undefined || (each.phase === "open") === needsAction)
    .slice(0, limit);
  const items: ListedRun[] = [];
  for (const incident of wanted) {
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
      launchedAt: iso(incident.openedAtMs),
      endedAt: incidentEndedAt(incident),
      ...incidentStand(incident, await topUpsOf(db, incident.workflowId)),
    });
  }
  return items;
}

/** Lists parked retries; other retries continue by themselves and are shown in their runs. */
async function parkedRetries(db: Db, filter: ListFilter): Promise<ListedRun[]> {
  const { businessId, phase, needsAction, limit } = filter;
  if (needsAction === false || (phase !== undefined && phase !== PARKED_PHASE)) return [];
  const parked = await listParkedRetries(db, businessId, limit);
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
    launchedAt: iso(retry.startedAtMs),
    ...retryStand(retry),
  }));
}

const without = {
  playbook: "",
  period: "",
  planHash: null,
  launchedBy: "",
  endedAt: null,
} as const;

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
