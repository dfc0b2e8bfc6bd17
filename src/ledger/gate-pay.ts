import type { Transaction } from "kysely";
import type { PayLimits } from "../contracts/playbook.ts";
import type { LineState, PlanLine } from "../contracts/pay-run.ts";
import { holdOn } from "../domain/holds.ts";
import { claimOwners } from "../store/payables/claims.ts";
import { holdsOnLines } from "../store/holds/holds.ts";
import { approvedLines } from "../store/approvals/line-approvals.ts";
import { getRunLines, type RunLine } from "../store/lines/lines.ts";
import { getRun } from "../store/runs/runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { WeekSums } from "../store/lines/week-sums.ts";
import { type Closed, closedFor, type GateRequest } from "./gate.ts";
import type { Wish } from "./facts.ts";
import { runStopped } from "./run-stopped.ts";

/** The workflow that wants lines of one run paid. */
export interface PayCaller {
  /** Workflow id that owns the claims: the run, or a retry. */
  readonly owner: string;
  readonly businessId: string;
  readonly runId: string;
  readonly playbook: string;
  readonly limits: PayLimits;
  /** The planned lines, by payable. */
  readonly plans: ReadonlyMap<string, PlanLine>;
  /** True if a person has accepted the ACH debit authorization. */
  readonly mayDebit: boolean;
}

/** States in which a claim's owner may pay the line. */
const OF_RUN: readonly LineState[] = ["paying"];
const OF_RETRY: readonly LineState[] = ["retrying", "parked"];

/**
 * Everything that must hold before lines are paid (rule 3), as this transaction reads it: the line
 * and its version, the run, the claim, holds, a quorum's approval of exactly this line, the debit
 * authorization, and the limits over all committed payments.
 */
export async function mayPay(
  trx: Transaction<Tables>,
  caller: PayCaller,
  requests: readonly (GateRequest & { readonly wish: Wish })[],
  businessMs: number,
): Promise<Map<string, Closed>> {
  const { owner, businessId, runId } = caller;
  const closed = new Map<string, Closed>();
  const ids = requests.map(({ subject }) => subject);
  const stopped = await runStopped(trx, await getRun(trx, runId), owner === runId);
  const found = await getRunLines(trx, runId, ids);
  const lines = new Map(found.map((line) => [line.payableId, line]));
  const owners = await claimOwners(trx, businessId, ids);
  const holds = await holdsOnLines(trx, { businessId, payableIds: ids, businessMs });
  const approved = await approvedLines(trx, found, businessMs);
  const weeks = new WeekSums(trx, { limits: caller.limits, businessMs });
  const states = owner === runId ? OF_RUN : OF_RETRY;
  for (const { subject, wish } of requests) {
    const line = lines.get(subject);
    const plan = caller.plans.get(subject);
    const isMoved =
      line === undefined ||
      plan === undefined ||
      !states.includes(line.state) ||
      line.lineHash !== wish.approvedHash ||
      line.amountCents !== wish.amountCents;
    if (isMoved) {
      closed.set(subject, { code: "moved", reason: "another process has changed the line" });
      continue;
    }
    const refusal =
      stopped ??
      (owners.get(subject) === owner
        ? null
        : closedFor("not-claimed", "the payable belongs to another workflow")) ??
      onHold(holdOn(holds, { ...line, playbook: caller.playbook })) ??
      (approved.has(subject)
        ? null
        : closedFor("not-approved", "no valid approval of this line is stored")) ??
      (plan.funding.needsAchAuthorization && !caller.mayDebit
        ? closedFor("no-authorization", "no person has accepted the ACH debit authorization")
        : null) ??
      (await overLimit(weeks, line, plan, wish));
    if (refusal !== null) closed.set(subject, refusal);
  }
  return closed;
}

async function overLimit(
  weeks: WeekSums,
  line: RunLine,
  plan: PlanLine,
  { executionDate }: Wish,
): Promise<Closed | null> {
  const refusal = plan.overLimit ?? (await weeks.refusal({ ...line, executionDate }));
  return refusal === null
    ? null
    : { code: "over-limit", reason: refusal.text, limitCode: refusal.code };
}

function onHold(hold: { readonly reason: string } | undefined): Closed | null {
  return hold === undefined ? null : closedFor("on-hold", hold.reason);
}
