import { billsGivenUp } from "../../src/domain/facts/retries.ts";
import { record } from "../../src/store/facts/record.ts";
import { counted } from "../../src/domain/counted.ts";
import type { Transaction } from "kysely";
import { byWorkflow } from "../../src/contracts/authors.ts";
import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { type GivenUp } from "../../src/domain/notices/given-up-texts.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { takeBackUnsent, unreportedFacts } from "../../src/store/notices/notices.ts";
import type { RetryCaseRule } from "../../src/store/lines/retry-cases.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { finishRetry } from "./answers.ts";
import { type RetryCase, setLine } from "./retry-case.ts";

/**
 * Gives a bill up, and notifies people. Puts it on hold without end, or the next run would pay it.
 */
export async function giveUp(retry: RetryCase, kept: RetryCaseRule): Promise<RetryAssessment> {
  const { businessId, payableId, workflowId, clock, line, row } = retry;
  const why = `Nobody acted on it for ${counted(kept.giveUpAfterDays, "day")}: ${row.reason ?? "it failed"}`;
  await retry.context.store.transactionOf(businessId, async (trx) => {
    const factKey = `${payableId}/${Math.round(kept.failedAtMs)}`;
    const bill: GivenUp = { payableId, workflowId, amountCents: line.amountCents, why, factKey };
    const isNews = await notifyOfGivenUp(trx, retry, bill, kept.giveUpNotify);
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
  await setLine(retry, { state: "given-up", reasonCode: "given_up", reason: why });
  return finishRetry(retry, "given up");
}

/**
 * Notifies people of a bill that is given up, and of those given up together with it at once.
 *
 * @returns false if they were notified of it before
 */
async function notifyOfGivenUp(
  trx: Transaction<Tables>,
  { businessId, run, clock }: RetryCase,
  bill: GivenUp,
  roles: readonly string[],
): Promise<boolean> {
  const fact = { businessId, kind: billsGivenUp.kind };
  const unreported = await unreportedFacts(trx, fact, [bill.factKey]);
  if (unreported.size === 0) return false;
  const nowMs = clock.realMs;
  const { unsent, sendAtMs } = await takeBackUnsent(trx, fact, nowMs);
  const bills = [...unsent.flatMap(({ data }) => data["bills"] as readonly GivenUp[]), bill];
  const to = [...unsent.flatMap((each) => each.roles), ...roles];
  const given = { runId: run.runId, bills, roles: to, sendAtMs };
  await record(trx, billsGivenUp({ businessId, nowMs }, given));
  return true;
}
