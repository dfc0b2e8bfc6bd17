import { dayOfInstant, namedDay } from "../../src/domain/clock/named-day.ts";
import { type ApprovalEnd, approvalEnd } from "../../src/domain/retries/approval.ts";
import { failureRuleFor } from "../../src/domain/retries/policy.ts";
import { failurePlaybook } from "./failure-playbook.ts";
import type { RetryCase } from "./retry-case.ts";

/**
 * Returns why the approval of a line covers no payment that would run on the given day; null while
 * it does.
 */
export async function approvalEndOf(retry: RetryCase, runsOn: string): Promise<ApprovalEnd | null> {
  const failed = retry.payments.filter(
    ({ id, status }) =>
      retry.line.paymentIds.includes(id) && (status === "failed" || status === "returned"),
  );
  if (failed.length === 0) return null;
  const { rules } = await failurePlaybook(retry, failed);
  const codes = failed.map(({ failureReason }) => failureRuleFor(rules, failureReason).code);
  const { retriesMade } = retry.row;
  return approvalEnd({ codes, retriesMade, firstSettledOn: firstSettledOn(retry), runsOn });
}

/**
 * Returns the earliest day in New York on which the first payment of a line can have settled, from
 * which Nacha counts. A payment never settles before it runs, whatever `processedAt` says of a
 * failure.
 */
export function firstSettledOn({ payments, line }: RetryCase): string {
  const days = payments
    .filter(({ id }) => line.paymentIds.includes(id))
    .flatMap(({ processedAt, scheduledAt, createdAt }) => {
      const ran = [dayOfInstant(processedAt) ?? [], namedDay(scheduledAt) ?? []].flat();
      return ran.length > 0 ? ran : (dayOfInstant(createdAt) ?? []);
    });
  return days.toSorted()[0] ?? line.executionDate;
}
