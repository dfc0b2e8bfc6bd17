import type { Transaction } from "kysely";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { mayPay } from "../../src/ledger/gate-pay.ts";
import { askGate, type Closed, type GateAnswer } from "../../src/ledger/gate.ts";
import { pay } from "../../src/ledger/operations.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { noteSends, type SentLine } from "../../src/store/lines/line-leases.ts";
import { type ActivityContext, LEASE_MS } from "../shared/context.ts";
import type { PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import { underRule } from "./replan-line.ts";

/** Brings lines before the gate, in the caller's transaction. */
export async function askToPay(
  context: ActivityContext,
  trx: Transaction<Tables>,
  owner: PayOwner,
  jobs: readonly PreparedJob[],
  clock: ClockReading,
): Promise<Map<string, GateAnswer>> {
  const { businessId, by } = owner;
  const caller = {
    owner: owner.owner,
    businessId,
    runId: owner.runId,
    playbook: owner.playbook,
    limits: owner.limits(),
    approve: owner.policy.approve,
    debitAcceptedAt: context.profileOf(owner.business).achAuthorization?.acceptedAt,
  };
  const requests = jobs.map(({ plan, line, wish, approved, reading, record }) => ({
    subject: plan.payableId,
    wish,
    reading,
    record,
    ...definedOnly({ approved }),
    line: { runId: line.runId, lineNo: line.lineNo },
  }));
  const answers = await askGate(
    trx,
    { businessId, operation: pay, sentBy: by, owner: owner.owner, clock },
    requests,
    (within, ...wanted) => mayPay(within, caller, ...wanted),
  );
  const sent = [...answers.values()].flatMap((answer) =>
    answer.kind === "open" ? [sentLine(owner, answer.send)] : [],
  );
  await noteSends(trx, sent, LEASE_MS);
  return answers;
}

function sentLine({ runId }: PayOwner, { subject, seq, terms }: OpenedSend): SentLine {
  return { runId, payableId: subject, seq, executionDate: terms.executionDate };
}

/** How long a line waits if its gate is closed for a reason that may pass by itself. */
const CLOSED_WAIT_MS = 5_000;

/** Judges a line of which a check of the gate has refused the request. */
export function ofClosed(
  owner: PayOwner,
  { plan }: PreparedJob,
  { code, reason, ruleIndex = plan.ruleIndex, record = "" }: Closed,
): PayOutcome {
  switch (code) {
    case "on_hold":
    case "trail_differs":
    case "not_as_approved":
      return { kind: "on-hold", reason };
    case "not_approved":
      return { kind: "not-approved" };
    case "record_changed":
      return { kind: "record-changed", record, reason };
    case "run_cancelled":
    case "rejected":
    case "dropped":
      return { kind: "stopped", code };
    case "refused_since":
      return { kind: "parked", code: "rejected", reason };
    case "over_bill_limit":
    case "over_vendor_week_limit":
    case "over_business_week_limit":
      return { kind: "parked", code, reason };
    case "other_rule":
      return { kind: "changed", plan: underRule(owner, plan, ruleIndex), reason };
    case "no_authorization":
      return {
        kind: "parked",
        code: "no_ach_authorization",
        reason: `${reason} Then have it tried again.`,
      };
    case "moved":
    case "not_claimed":
    case "run_ended":
    case "plan_only":
    case "done":
    case "hold_lifted":
      return { kind: "back", waitMs: CLOSED_WAIT_MS, reason };
  }
}
