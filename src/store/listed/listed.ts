import { type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from "kysely";
import type { CancellationPhase } from "../../contracts/cancellation.ts";
import { OPEN_TOP_UP_STATES } from "../../contracts/deposit.ts";
import type { IncidentPhase } from "../../contracts/incident.ts";
import type { OnboardingPhase } from "../../contracts/onboarding.ts";
import { LINE } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import {
  type KindShown,
  WORKFLOW_KINDS,
  type WorkflowKindName,
} from "../../contracts/workflow-kinds.ts";
import { CHANGED_RECORD } from "../../domain/approvals/changed-records.ts";
import { ASKING_PHASE } from "../../domain/asking-phases.ts";
import { foundSomething, isHoldingBack } from "../cancellations/cancellation-list.ts";
import { isBusy } from "../runs/busy.ts";
import { asksPerson } from "../runs/run-stand.ts";
import type { Tables } from "../schema/tables.ts";
import type { ClockInSql } from "../sql/clocks.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { isIn } from "../sql/is-in.ts";
import { idsIn } from "../sql/rows-as.ts";

/** Which workflows a list shows; a missing field stands for all. */
export interface ListedFilter {
  readonly kind?: KindShown | undefined;
  readonly playbook?: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly period?: string | undefined;
  readonly phase?: string | undefined;
  /** True for what waits for a person, false for what doesn't. */
  readonly needsAction?: boolean | undefined;
  /** Real instants of the launch: from the first on, and before the second. */
  readonly fromMs?: number | undefined;
  readonly beforeMs?: number | undefined;
}

/** What a list needs to know besides. */
interface Known {
  /** The API's business ids; undefined for all. */
  readonly businessIds: readonly string[] | undefined;
  /** The clock of each row of `runs`. */
  readonly clock: ClockInSql;
  /** Cancellations that have left something to a person at their end. */
  readonly left: readonly string[];
}

type Filter = ListedFilter & Known;

/** A workflow in the list; the table of its kind has the rest. */
export interface ListedId {
  readonly kind: WorkflowKindName;
  readonly id: string;
}

interface Row {
  readonly kind: WorkflowKindName;
  readonly id: string;
  readonly at_ms: number;
}

type Branch<Name extends keyof Tables = keyof Tables> = SelectQueryBuilder<Tables, Name, Row>;

/** The phase that a failed payment has in the list: nothing of it is completed. */
export const PARKED_PHASE = "settling" satisfies RunPhase;

/** Selects the workflows of each kind that a list shows; undefined if it can show none. */
const BRANCHES: Readonly<Record<WorkflowKindName, (db: Db, filter: Filter) => unknown>> = {
  payRun: (db, filter) => {
    const { phase, period, needsAction, clock } = filter;
    return db
      .selectFrom("runs")
      .select(rowOf("payRun", "runs.run_id", "runs.launched_at_ms"))
      .where(commonly(filter, "runs", "launched_at_ms"))
      .where(isBusy)
      .$if(filter.playbook !== undefined, (q) =>
        q.where("runs.playbook", "=", filter.playbook ?? ""),
      )
      .$if(period !== undefined, (q) => q.where("runs.period", "=", period ?? ""))
      .$if(phase !== undefined, (q) => q.where(isInPhase(phase as RunPhase)))
      .$if(needsAction !== undefined, (q) =>
        q.where((eb) => {
          // Few runs can ask for anything: the rest is never looked at line by line.
          const asks = eb.and([sql<SqlBool>`runs.run_id in (${MAY_ASK})`, asksPerson(clock)(eb)]);
          return needsAction === true ? asks : eb.not(asks);
        }),
      );
  },
  cancelScheduledPayments: (db, filter) => {
    const { kind, phase, period, needsAction, left } = filter;
    if (period !== undefined) return undefined;
    return db
      .selectFrom("cancellations")
      .select(
        rowOf(
          "cancelScheduledPayments",
          "cancellations.workflow_id",
          "cancellations.requested_at_ms",
        ),
      )
      .where(commonly(filter, "cancellations", "requested_at_ms"))
      .where(foundSomething)
      .$if(filter.playbook !== undefined, (q) =>
        q.where("cancellations.playbook", "=", filter.playbook ?? ""),
      )
      .$if(kind !== undefined, (q) =>
        q.where(sql<SqlBool>`jsonb(cancellations.policy) ->> 'kind' = ${kind}`),
      )
      .$if(phase !== undefined, (q) =>
        q.where("cancellations.phase", "=", phase as CancellationPhase),
      )
      .$if(needsAction !== undefined, (q) =>
        q.where((eb) => {
          const asks = eb.or([
            isHoldingBack(eb),
            eb("cancellations.workflow_id", "in", idsIn(left)),
          ]);
          return needsAction === true ? asks : eb.not(asks);
        }),
      );
  },
  kybOnboarding: (db, filter) => {
    const { phase, period, needsAction } = filter;
    if (period !== undefined) return undefined;
    return db
      .selectFrom("onboardings")
      .select(rowOf("kybOnboarding", "onboardings.workflow_id", "onboardings.launched_at_ms"))
      .where(commonly(filter, "onboardings", "launched_at_ms"))
      .$if(filter.playbook !== undefined, (q) =>
        q.where("onboardings.playbook", "=", filter.playbook ?? ""),
      )
      .$if(phase !== undefined, (q) => q.where("onboardings.phase", "=", phase as OnboardingPhase))
      .$if(needsAction !== undefined, (q) =>
        q.where("onboardings.needs_action", "=", needsAction === true ? 1 : 0),
      );
  },
  retryFailedPayment: (db, filter) => {
    const { playbook, phase, period, needsAction } = filter;
    if (needsAction === false || (phase ?? PARKED_PHASE) !== PARKED_PHASE) return undefined;
    return (
      db
        .selectFrom("retries")
        .select(rowOf("retryFailedPayment", "retries.workflow_id", "retries.started_at_ms"))
        .where(commonly(filter, "retries", "started_at_ms"))
        .where("retries.phase", "=", ASKING_PHASE.retryFailedPayment)
        // As the index says it.
        .where(sql<SqlBool>`retries.phase <> 'ended'`)
        .$if(playbook !== undefined || period !== undefined, (q) =>
          q.where("retries.run_id", "in", (eb) => {
            let of = eb.selectFrom("runs").select("runs.run_id");
            if (playbook !== undefined) of = of.where("runs.playbook", "=", playbook);
            if (period !== undefined) of = of.where("runs.period", "=", period);
            return of;
          }),
        )
    );
  },
  fundingIncident: (db, filter) => {
    const { playbook, phase, period, needsAction } = filter;
    if (playbook !== undefined || period !== undefined) return undefined;
    return db
      .selectFrom("incidents")
      .select(rowOf("fundingIncident", "incidents.workflow_id", "incidents.opened_at_ms"))
      .where(commonly(filter, "incidents", "opened_at_ms"))
      .$if(phase !== undefined, (q) => q.where("incidents.phase", "=", phase as IncidentPhase))
      .$if(needsAction !== undefined, (q) =>
        q.where("incidents.phase", needsAction === true ? "=" : "!=", ASKING_PHASE.fundingIncident),
      );
  },
};

/** Returns one page of the list, the latest launch first, and how many all pages have. */
export async function listedPage(
  db: Db,
  filter: Filter,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<{ readonly ids: readonly ListedId[]; readonly totalCount: number }> {
  const [first, ...others] = branchesOf(db, filter);
  if (first === undefined) return { ids: [], totalCount: 0 };
  const offset = (page - 1) * pageSize;
  // Each kind brings the newest that the page may need, through its index, and no more.
  const newest = (branch: Branch) =>
    db
      .selectFrom(
        branch
          .orderBy("at_ms", "desc")
          .orderBy("id", "desc")
          .limit(offset + pageSize)
          .as("newest"),
      )
      .selectAll();
  const ids = await db
    .selectFrom(
      others.reduce((union, branch) => union.unionAll(newest(branch)), newest(first)).as("listed"),
    )
    .select(["kind", "id"])
    .orderBy("at_ms", "desc")
    .orderBy("id", "desc")
    .limit(pageSize)
    .offset(offset)
    .execute();
  return { ids, totalCount: await countListed(db, filter) };
}

async function countListed(db: Db, filter: Filter): Promise<number> {
  // What waits for nobody is almost everything, and asking each row about it would take long.
  if (filter.needsAction === false) {
    const all = await countListed(db, { ...filter, needsAction: undefined });
    return Math.max(0, all - (await countListed(db, { ...filter, needsAction: true })));
  }
  let count = 0;
  for (const branch of branchesOf(db, filter)) {
    const row = await branch.clearSelect().select(COUNT).executeTakeFirstOrThrow();
    count += Number(row.count);
  }
  return count;
}

function branchesOf(db: Db, filter: Filter): Branch[] {
  const { kind, businessIds } = filter;
  if (businessIds?.length === 0) return [];
  const branches = Object.entries(BRANCHES) as [WorkflowKindName, (typeof BRANCHES)["payRun"]][];
  return branches
    .filter(([name]) => kind === undefined || kind in WORKFLOW_KINDS[name].called)
    .flatMap(([, branch]) => (branch(db, filter) as Branch | undefined) ?? []);
}

function rowOf(kind: WorkflowKindName, id: string, at: string) {
  return [
    sql.lit(kind).as("kind"),
    sql.ref<string>(id).as("id"),
    sql.ref<number>(at).as("at_ms"),
  ] as const;
}

/** The conditions that every kind's table knows. */
function commonly(
  { businessIds, fromMs, beforeMs }: Filter,
  table: keyof Tables,
  at: string,
): RawBuilder<SqlBool> {
  const launched = sql.ref(`${table}.${at}`);
  const conditions = [
    ...(businessIds === undefined
      ? []
      : // As an expression, so that no index of the business leads to the rows themselves, which are
        // long: there are few businesses.
        [sql`${sql.ref(`${table}.business_id`)} || '' in (${sql.join(businessIds)})`]),
    ...(fromMs === undefined ? [] : [sql`${launched} >= ${fromMs}`]),
    ...(beforeMs === undefined ? [] : [sql`${launched} < ${beforeMs}`]),
  ];
  return conditions.length === 0 ? sql`true` : sql`${sql.join(conditions, sql` and `)}`;
}

const CAME_BACK_IN = sql`select run_lines.run_id from run_lines
  where ${isIn("run_lines.state", LINE.cameBack)}`;

/** A run that completed may have got exceptions since. */
function isInPhase(phase: RunPhase): RawBuilder<SqlBool> {
  const isStored = sql<SqlBool>`runs.phase = ${phase}`;
  if (phase === "completed") return sql`(${isStored} and runs.run_id not in (${CAME_BACK_IN}))`;
  if (phase !== "completed-with-exceptions") return isStored;
  const completed = "completed" satisfies RunPhase;
  return sql`(${isStored} or (runs.phase = ${completed} and runs.run_id in (${CAME_BACK_IN})))`;
}

/** Selects, through short indexes, all runs that may ask for a person, and few others. */
const MAY_ASK = sql`
  select open.run_id from runs open where open.ended_at_ms is null
  union all ${CAME_BACK_IN} and (run_lines.state = 'parked'
    or run_lines.reason_code = ${sql.lit(CHANGED_RECORD)})
  union all select top_ups.owner from top_ups
    where ${isIn("top_ups.state", OPEN_TOP_UP_STATES)}`;
