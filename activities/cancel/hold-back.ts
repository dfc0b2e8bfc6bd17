import { byWorkflow, SystemAuthor } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import {
  cancelScheduledPaymentsId,
  holdBackRequest,
  WORKFLOW_KINDS,
} from "../../src/contracts/workflow-kinds.ts";
import { onlyPlans } from "../../src/domain/plan-only.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import type { HoldPlaybook } from "../../src/contracts/playbook.ts";
import { heldBackReason, releasersOf } from "../../src/domain/cancellations/policy.ts";
import { changeOfSubject, type ShownSubject } from "../../src/domain/events/shown-change.ts";
import { releaseByMs } from "../../src/domain/cancellations/cut-off.ts";
import { counted } from "../../src/domain/counted.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import {
  type Cancellation,
  changeCancellation,
  getCancellation,
  insertCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { insertItem, withheldPayables } from "../../src/store/cancellations/cancellation-items.ts";
import { createHold, type Hold } from "../../src/store/holds/holds.ts";
import { getRunLine } from "../../src/store/lines/lines.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { listPlaybooks } from "../../src/store/playbooks/playbooks.ts";
import type { PlannedLine } from "../../src/store/lines/plan-lines.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";
import { linesOfRun } from "./choose-lines.ts";
import { type LineStand, lineStand } from "./line-stand.ts";
import { by } from "./notes.ts";
import { reasonOf } from "./read-subject.ts";

/**
 * Puts every hold-back that is stored for a run's playbook into force, as soon as the run is
 * planned and therefore before anything of it can be sent. Repeating it changes nothing.
 */
export async function holdBackFromRun(context: ActivityContext, runId: string): Promise<void> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined || run.planHash === null || onlyPlans(run.policy)) return;
  const { businessId, business } = run;
  const stored = await listPlaybooks(context.store.db, business);
  for (const { compiled } of stored) {
    if (compiled.kind !== "hold" || !isFor(compiled, run)) continue;
    const about = holdBackRequest(compiled.name, runId);
    const workflowId = cancelScheduledPaymentsId(business, about);
    const request = {
      workflowId,
      businessId,
      business,
      playbook: compiled.name,
      policy: compiled,
      runId,
      reason: heldBackReason(compiled.name, compiled.releasedBy),
      requestedBy: new SystemAuthor(compiled.name),
      nowMs: Date.now(),
    };
    await context.store.transactionOf(businessId, (trx) => insertCancellation(trx, request));
    const cancellation = await getCancellation(context.store.db, workflowId);
    if (cancellation === undefined || cancellation.endedAtMs !== null) continue;
    if (cancellation.chosenAtMs === null) await holdBack(context, cancellation);
    await startOrSignal(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
      ...request,
      requestedBy: compiled.name,
    });
  }
}

function isFor(playbook: HoldPlaybook, run: { readonly playbook: string }): boolean {
  return (
    playbook.events === undefined &&
    (playbook.choose.run === null || playbook.choose.run === run.playbook)
  );
}

/**
 * Writes the holds of a hold-back, each with its bill, in one transaction.
 *
 * @param subject what events were about; undefined if none started it
 */
export async function holdBack(
  context: ActivityContext,
  cancellation: Cancellation,
  subject?: ShownSubject,
): Promise<void> {
  const { runId, policy, businessId, business, workflowId } = cancellation;
  if (runId === null || policy.kind !== "hold") {
    throw new Error(`${workflowId} names no run whose bills it holds back`);
  }
  const all = await linesOfRun(context.store.db, policy.choose, runId);
  const clock = await context.clockOf(business).now();
  await context.store.transactionOf(businessId, async (trx) => {
    const now = await getCancellation(trx, workflowId);
    if (now?.chosenAtMs !== null) return;
    const changes = all.flatMap(
      ({ plan }) => (subject && changeOfSubject(subject, { plan })) ?? [],
    );
    const lines =
      subject === undefined
        ? all
        : (await notWithheld(trx, cancellation, all)).filter(
            ({ plan }) => changeOfSubject(subject, { plan }) !== null,
          );
    const held: PlannedLine[] = [];
    const late: string[] = [];
    for (const [itemNo, planned] of lines.entries()) {
      const stand = await holdLineBack(trx, cancellation, { itemNo, ...planned }, clock);
      if (stand.kind === "beyond") late.push(...stand.scheduledIds);
      else held.push(planned);
    }
    const reason = reasonOf(cancellation, changes[0]);
    await changeCancellation(trx, workflowId, { chosenAtMs: clock.realMs, reason });
    await appendAudit(trx, {
      ...by(cancellation, clock),
      action: "cancellation.withheld",
      subject: runId,
      details: { reason, bills: lines.map(({ line }) => line.payableId) },
    });
    if (held.length > 0) await notifyOfWithheld(trx, cancellation, held, clock);
    if (late.length > 0) await notifyOfTooLate(trx, cancellation, late, clock);
  });
}

/**
 * Returns the lines that an event still has to hold back: not those that have ended, and not those
 * that an earlier event held back, because one release must be enough for a bill.
 */
async function notWithheld(
  trx: Transaction<Tables>,
  { businessId, playbook }: Cancellation,
  lines: readonly PlannedLine[],
): Promise<PlannedLine[]> {
  const held = await withheldPayables(trx, businessId, playbook);
  return lines.filter(
    ({ line }) =>
      (line.state === "parked" || !LINE.ended.includes(line.state)) && !held.has(line.payableId),
  );
}

async function holdLineBack(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  { itemNo, line, plan }: PlannedLine & { readonly itemNo: number },
  clock: ClockReading,
): Promise<LineStand> {
  const { workflowId, businessId, policy } = cancellation;
  const now = (await getRunLine(trx, line.runId, line.payableId)) ?? line;
  const stand = await lineStand(trx, now);
  const isHeld = stand.kind !== "beyond";
  const hold = isHeld ? await holdOf(trx, cancellation, line.payableId, clock) : null;
  const isTimed = isHeld && policy.kind === "hold";
  const { state, reason } =
    stand.kind === "beyond" ? { state: "too-late" as const, ...stand } : STATES[stand.kind];
  await insertItem(
    trx,
    {
      workflowId,
      itemNo,
      businessId,
      paymentId: null,
      payableId: line.payableId,
      contactId: now.contactId,
      amountCents: plan.amountCents,
      state,
      open: isHeld,
      reason,
      holdId: hold?.holdId ?? null,
      goesOutAtMs: isHeld ? null : stand.goesOutAtMs,
      cancelledAtMs: isHeld ? null : Math.floor(clock.businessMs),
      releaseByMs: isTimed ? releaseByMs(plan.executionDate, policy.until) : null,
    },
    clock.realMs,
  );
  return stand;
}

const STATES = {
  unsent: { state: "withheld", reason: null },
  sending: {
    state: "unknown",
    reason: "A payment of it may have been sent before the hold; looking.",
  },
} as const;

function holdOf(
  trx: Transaction<Tables>,
  { workflowId, businessId, policy, playbook }: Cancellation,
  payableId: string,
  clock: ClockReading,
): Promise<Hold> {
  return createHold(trx, {
    businessId,
    scope: "payable",
    value: payableId,
    reason: heldBackReason(playbook, releasersOf(policy)),
    author: byWorkflow(workflowId),
    roles: releasersOf(policy),
    nowMs: clock.realMs,
  });
}

async function notifyOfWithheld(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  lines: readonly PlannedLine[],
  clock: ClockReading,
): Promise<void> {
  const { businessId, workflowId, policy, runId } = cancellation;
  const cents = lines.reduce((sum, { plan }) => sum + plan.amountCents, 0);
  await raiseNotice(trx, {
    businessId,
    kind: "bills-withheld",
    factKey: workflowId,
    subject: `${counted(lines.length, "bill")}, ${formatUsd(cents)}, held back until released`,
    text: `Of ${runId ?? ""}. They are not sent before ${releasersOf(policy).join(" or ")} releases them: payrun status ${workflowId}`,
    roles: releasersOf(policy),
    data: { id: workflowId, runId, bills: lines.length, totalCents: cents },
    nowMs: clock.realMs,
    ...definedOnly({ runId: runId ?? undefined }),
  });
}

/**
 * Notifies people of payments that the service already has: they go out on their dates unless a
 * person cancels them.
 */
async function notifyOfTooLate(
  trx: Transaction<Tables>,
  cancellation: Cancellation,
  paymentIds: readonly string[],
  clock: ClockReading,
): Promise<void> {
  const { businessId, workflowId, policy, runId } = cancellation;
  await raiseNotice(trx, {
    businessId,
    kind: "bill-not-released",
    factKey: workflowId,
    subject: `${counted(paymentIds.length, "payment")} could not be held back: the service has them already`,
    text: `Of ${runId ?? ""}, chosen by ${policy.name}. They go out on their dates unless a person cancels them before 9:00 New York:\n\n  payrun cancel-scheduled ${paymentIds.join(" ")}`,
    roles: [...releasersOf(policy), "operator"],
    data: { id: workflowId, runId, paymentIds },
    nowMs: clock.realMs,
    ...definedOnly({ runId: runId ?? undefined }),
  });
}
