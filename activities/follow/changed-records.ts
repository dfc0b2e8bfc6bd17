import { recordsChangedMeanwhile } from "../../src/domain/facts/payments.ts";
import { record } from "../../src/store/facts/record.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { byWorkflow, nameOfAuthor, PAYRUN } from "../../src/contracts/authors.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import type { PlanLine, VendorRecord } from "../../src/contracts/pay-run.ts";
import { WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import { CHANGED_RECORD, recordChangedText } from "../../src/domain/approvals/changed-records.ts";
import { escalatedStage } from "../../src/domain/approvals/stages.ts";
import { cancelling } from "../../src/domain/payments/alarms.ts";
import { differing, recordKey } from "../../src/domain/vendor-account.ts";
import { confirmedRecords } from "../../src/ledger/confirmed-records.ts";
import { holdOnce } from "../../src/store/holds/holds.ts";
import { changeLine, type LineChange, type RunLine } from "../../src/store/lines/lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import type { ActivityContext } from "../shared/context.ts";
import { askToCancel } from "./ask-to-cancel.ts";

/** A scheduled line, and the record that its vendor has now. */
export interface LineWithRecord {
  readonly line: RunLine;
  readonly plan: PlanLine;
  readonly record: VendorRecord;
}

/**
 * Marks scheduled lines whose vendor's record was changed after the approval, unless somebody has
 * said that the account is still right. One notice covers what changes together; above the
 * playbook's amount, the payments are cancelled as well.
 */
export async function noteChangedRecords(
  context: ActivityContext,
  run: Run,
  changed: readonly LineWithRecord[],
  clock: ClockReading,
): Promise<void> {
  const news = changed.filter(
    ({ line, record }) => line.recordAsked !== recordKey(record.updatedAt),
  );
  if (news.length === 0) return;
  const { businessId, runId } = run;
  const overCents = run.policy.changedRecord?.cancelOverCents ?? Infinity;
  const cancelled = await context.store.transactionOf(businessId, async (trx) => {
    const contactIds = news.map(({ plan }) => plan.contactId);
    const confirmed = await confirmedRecords(trx, run, contactIds);
    const open = news.filter(
      ({ line, plan, record }) => !confirmed.covers(plan, escalatedStage(line), record.updatedAt),
    );
    const toCancel: LineWithRecord[] = [];
    for (const each of open) {
      const { line, plan, record } = each;
      const isOver = line.amountCents > overCents;
      const fact = recordChangedText(differing(plan.record, record));
      const act = isOver ? ` ${cancelling(`The payment of ${line.executionDate}`)}` : "";
      const change: LineChange = {
        reasonCode: isOver ? "record_changed_after_approval" : CHANGED_RECORD,
        reason: `${fact}${act}`,
        recordAsked: recordKey(record.updatedAt),
        recordAskedAtMs: clock.realMs,
      };
      const from = LINE.recordWatched;
      if (!(await changeLine(trx, line, change, clock.realMs, { from })) || !isOver) continue;
      toCancel.push(each);
      const hold = { businessId, scope: "payable", value: line.payableId, reason: fact } as const;
      await holdOnce(trx, { ...hold, author: PAYRUN, nowMs: clock.realMs }, clock);
    }
    if (open.length > 0) {
      const head = { businessId, nowMs: clock.realMs, by: byWorkflow(runId), subject: runId };
      const records = open.map(({ line: { payableId }, plan: { contactId }, record: now }) => ({
        payableId,
        contactId,
        record: recordKey(now.updatedAt),
      }));
      const cancels = toCancel.flatMap(({ line }) => line.paymentIds);
      await record(trx, recordsChangedMeanwhile(head, { records, cancels }));
    }
    if (toCancel.length === 0) return null;
    return askToCancel(
      trx,
      run,
      {
        code: "record_changed_after_approval",
        fact: `Vendors' records were changed after the approval.`,
        cancel: toCancel.flatMap(({ line }) => line.paymentIds),
      },
      clock,
    );
  });
  if (cancelled !== null) {
    await startOrSignal(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
      ...cancelled,
      requestedBy: nameOfAuthor(cancelled.requestedBy),
    });
  }
}
