import { byWorkflow } from "../../src/contracts/authors.ts";
import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { RetryCaseRule } from "../../src/store/lines/retry-cases.ts";
import { finish } from "./answers.ts";
import { type RetryCase, setLine } from "./retry-case.ts";

/**
 * Gives a bill up, and notifies people. Puts it on hold without end, or the next run would pay it.
 */
export async function giveUp(retry: RetryCase, kept: RetryCaseRule): Promise<RetryAssessment> {
  const { businessId, payableId, workflowId, clock, line, row } = retry;
  const why = `Nobody acted on it for ${kept.giveUpAfterDays} days: ${row.reason ?? "it failed"}`;
  await retry.context.store.transactionOf(businessId, async (trx) => {
    const isNews = await raiseNotice(trx, {
      businessId,
      kind: "given-up",
      factKey: `${payableId}/${Math.round(kept.failedAtMs)}`,
      subject: `${payableId} is given up: ${formatUsd(line.amountCents)} stay unpaid`,
      text: `${why}\n\nIt is on hold. Release the hold, and the next run plans it again.`,
      roles: kept.giveUpNotify,
      data: { payableId, workflowId, amountCents: line.amountCents },
      runId: retry.run.runId,
      nowMs: clock.realMs,
    });
    // People were notified before: an earlier try has written the hold as well.
    if (!isNews) return;
    await createHold(trx, {
      businessId,
      scope: "payable",
      value: payableId,
      reason: `Given up: ${why}`,
      author: byWorkflow(workflowId),
      nowMs: clock.realMs,
    });
  });
  await setLine(retry, { state: "given-up", reasonCode: "given-up", reason: why });
  return finish(retry, "given up");
}
