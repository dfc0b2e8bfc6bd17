import type { Transaction } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { WorkflowKindName } from "../../contracts/workflow-kinds.ts";
import type { Wake } from "../../domain/facts/fact.ts";
import { idsIn } from "../sql/rows-as.ts";
import { heldColumn, isOfRun } from "../lines/open-lines.ts";
import { casesOf } from "../lines/retry-cases.ts";
import type { Tables } from "../schema/tables.ts";

/** Returns the workflows that these facts of a business concern, as far as they have not ended. */
export async function concernedBy(
  trx: Transaction<Tables>,
  businessId: string,
  facts: readonly Wake[],
): Promise<Set<string>> {
  const concerned = new Set<string>();
  const add = (ids: readonly string[]): void => ids.forEach((id) => concerned.add(id));
  for (const fact of facts) {
    if (fact.kind === "workflow") concerned.add(fact.workflowId);
    if (fact.kind === "run") add(await hangingOn(trx, businessId, fact.runId));
    if (fact.kind === "wait") add(await runsHeld(trx, businessId, "all", []));
    if (fact.kind === "clock") {
      for (const openOf of Object.values(AT_WORK))
        add((await openOf(trx, businessId).execute()).map(({ id }) => id));
    }
    if (fact.kind === "incident") add(await waitingFor(trx, businessId, fact.sourceId));
  }
  const holds = facts.filter((fact) => fact.kind === "hold");
  if (holds.length > 0)
    add(
      await behindHolds(
        trx,
        holds.map(({ holdId }) => holdId),
      ),
    );
  for (const [scope, ofOne] of Map.groupBy(holds, (hold) => hold.scope)) {
    const values = [...new Set(ofOne.map(({ value }) => value))];
    add(await runsHeld(trx, businessId, scope, values));
    add(await retriesHeld(trx, businessId, scope, values));
  }
  return concerned;
}

function openRetries(trx: Transaction<Tables>) {
  return trx.selectFrom("retries").select("workflow_id as id").where("phase", "!=", "ended");
}

function openCancellations(trx: Transaction<Tables>, businessId: string) {
  return trx
    .selectFrom("cancellations")
    .select("workflow_id as id")
    .where("business_id", "=", businessId)
    .where("ended_at_ms", "is", null);
}

/** Returns the retries of a run's bills, and the cancellations that hold bills of it back. */
async function hangingOn(
  trx: Transaction<Tables>,
  businessId: string,
  runId: string,
): Promise<string[]> {
  const all = openRetries(trx)
    .where("run_id", "=", runId)
    .unionAll(openCancellations(trx, businessId).where("run_id", "=", runId));
  return (await all.execute()).map(({ id }) => id);
}

interface Ids {
  execute(): Promise<readonly { readonly id: string }[]>;
}

/** The workflows of a business that have not ended, by kind. */
const AT_WORK: Readonly<
  Record<WorkflowKindName, (trx: Transaction<Tables>, businessId: string) => Ids>
> = {
  payRun: (trx, businessId) =>
    trx
      .selectFrom("runs")
      .select("run_id as id")
      .where("business_id", "=", businessId)
      .where("phase", "not in", ENDED_PHASES),
  retryFailedPayment: (trx, businessId) => openRetries(trx).where("business_id", "=", businessId),
  cancelScheduledPayments: openCancellations,
  // An incident that was decided may still follow a deposit.
  fundingIncident: (trx, businessId) =>
    trx.selectFrom("incidents").select("workflow_id as id").where("business_id", "=", businessId),
  kybOnboarding: (trx, businessId) =>
    trx
      .selectFrom("onboardings")
      .select("workflow_id as id")
      .where("business_id", "=", businessId)
      .where("ended_at_ms", "is", null),
};

async function waitingFor(
  trx: Transaction<Tables>,
  businessId: string,
  sourceId: string,
): Promise<string[]> {
  const rows = await casesOf(trx, { businessId, sourceId })
    .select("retries.workflow_id")
    .where("retry_cases.waits_for", "is not", null)
    .execute();
  return rows.map((row) => row.workflow_id);
}

/** Returns the workflows that have set these holds and wait until a person releases them. */
async function behindHolds(
  trx: Transaction<Tables>,
  holdIds: readonly string[],
): Promise<string[]> {
  const items = await trx
    .selectFrom("cancellation_items")
    .innerJoin("cancellations", "cancellations.workflow_id", "cancellation_items.workflow_id")
    .select("cancellations.workflow_id")
    .distinct()
    .where("cancellation_items.hold_id", "in", idsIn(holdIds))
    .where("cancellations.ended_at_ms", "is", null)
    .execute();
  const incidents = await trx
    .selectFrom("incidents")
    .select("workflow_id")
    .where("hold_id", "in", idsIn(holdIds))
    .where("phase", "!=", "ended")
    .execute();
  return [...items, ...incidents].map((row) => row.workflow_id);
}

async function runsHeld(
  trx: Transaction<Tables>,
  businessId: string,
  scope: string,
  values: readonly string[],
): Promise<string[]> {
  let query = trx
    .selectFrom("runs")
    .select("runs.run_id")
    .where("runs.business_id", "=", businessId)
    .where("runs.phase", "not in", ENDED_PHASES);
  const column = heldColumn(scope);
  if (column === null) return idsOf(await query.execute());
  if (isOfRun(column)) {
    query = query.where(column, "in", idsIn(values));
  } else {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom("run_lines")
          .select("run_lines.payable_id")
          .whereRef("run_lines.run_id", "=", "runs.run_id")
          .where(column, "in", idsIn(values))
          .where("run_lines.state", "not in", LINE.ended),
      ),
    );
  }
  return idsOf(await query.execute());
}

function idsOf(rows: readonly { readonly run_id: string }[]): string[] {
  return rows.map((row) => row.run_id);
}

async function retriesHeld(
  trx: Transaction<Tables>,
  businessId: string,
  scope: string,
  values: readonly string[],
): Promise<string[]> {
  let query = trx
    .selectFrom("retries")
    .innerJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "retries.run_id")
        .onRef("run_lines.payable_id", "=", "retries.payable_id"),
    )
    .innerJoin("runs", "runs.run_id", "retries.run_id")
    .select("retries.workflow_id")
    .where("retries.business_id", "=", businessId)
    .where("retries.phase", "!=", "ended");
  const column = heldColumn(scope);
  if (column !== null) query = query.where(column, "in", idsIn(values));
  return (await query.execute()).map((row) => row.workflow_id);
}
