import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { PAYRUN } from "../../src/contracts/authors.ts";
import { cancelScheduledPaymentsId } from "../../src/contracts/workflow-kinds.ts";
import { cancelOfPayments, requestOfPayments } from "../../src/domain/cancellations/policy.ts";
import type { AlarmCode } from "../../src/domain/payments/alarms.ts";
import {
  insertCancellation,
  type NewCancellation,
  nextCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/**
 * Requests the cancellation of the payments that the alarm is about, or joins one that is under
 * way. If people have released these payments before, a new finding makes a new request.
 */
export async function askToCancel(
  trx: Transaction<Tables>,
  run: Run,
  what: {
    readonly code: AlarmCode;
    /** The reason of the cancellation. */
    readonly fact: string;
    readonly cancel: readonly string[];
  },
  clock: ClockReading,
): Promise<NewCancellation> {
  const { businessId, business } = run;
  const [first = "", ...others] = what.cancel;
  const about = others.length === 0 ? first : requestOfPayments(what.cancel);
  const beginning = cancelScheduledPaymentsId(business, `${what.code}/${about}`);
  const { workflowId } = await nextCancellation(trx, beginning);
  const asked: NewCancellation = {
    workflowId,
    businessId,
    business,
    playbook: "",
    policy: cancelOfPayments(what.cancel),
    runId: null,
    reason: what.fact,
    requestedBy: PAYRUN,
    nowMs: clock.realMs,
  };
  await insertCancellation(trx, asked);
  return asked;
}
