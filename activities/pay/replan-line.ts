import type { LineFlag, PlanLine } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { ruleFor, ruleOfLine } from "../../src/domain/approvals/rules.ts";
import { addBankingDays } from "../../src/domain/clock/bank-calendar.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { decideByOf } from "../../src/domain/planning/dates.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import type { Contact, Payable } from "../../src/payments-api/index.ts";
import { evaluateCondition } from "../../src/playbooks/conditions.ts";
import { type ConditionView, conditionView } from "../../src/domain/planning/select.ts";
import type { PayJob, PayOwner } from "./job.ts";
import { billFacts, vendorFacts } from "../shared/read-bills.ts";
import { accountText } from "../../src/domain/vendor-account.ts";

/** A line, with the policy that it is planned by. */
type ReplanJob = PayJob & Pick<PayOwner, "policy" | "businessId">;

export interface ChangedBill {
  readonly payable: Payable;
  readonly contact: Contact;
  readonly owed: number;
  readonly reason: string;
}

/**
 * Returns the next version of a line whose bill, vendor or amount is not what was approved: flagged
 * with what changed, under the rule that applies to it now.
 */
export function replanLine(job: ReplanJob, changed: ChangedBill): PlanLine {
  const { contact, owed, payable } = changed;
  const bankLast4 = contact.bankAccount?.last4 ?? null;
  const flags = [...job.plan.flags];
  if (bankLast4 !== job.plan.bankLast4 && !flags.some(isChangedAccount)) {
    flags.push({
      kind: "changed-bank-account",
      text: `Bank account changed from ${accountText(job.plan.bankLast4)} to ${accountText(bankLast4)} while the run was open.`,
    });
  }
  const kinds = flags.map(({ kind }) => kind);
  const view = conditionView(billFacts(payable), vendorFacts(contact), owed, kinds);
  const billCents = job.policy.limits.billCents;
  // A different rule may apply now, which need not have stages.
  const { stages: _, ...before } = job.plan;
  return versioned(job.businessId, {
    ...before,
    contactId: contact.id,
    contactName: contact.displayName,
    amountCents: owed,
    totalCents: payable.totalAmountCents,
    bankLast4,
    contactUpdatedAt: contact.updatedAt,
    flags,
    ...rule(job.policy, flags, view, owed),
    overLimit:
      billCents !== null && owed > billCents
        ? {
            code: "over-bill-limit",
            text: `${formatUsd(owed)} is above the playbook's limit of ${formatUsd(billCents)} for one bill.`,
          }
        : null,
  });
}

/**
 * Returns the next version of a line whose execution date has passed: the same bill on a later
 * date.
 */
export function redateLine(
  run: Pick<PayOwner, "businessId" | "policy">,
  before: PlanLine,
  executionDate: string,
): { readonly plan: PlanLine; readonly reason: string } {
  const flags = before.flags.filter((flag) => flag.kind !== "late");
  const arrivalDate = addBankingDays(executionDate, run.policy.pay.arrivalBusinessDays);
  const late = before.dueDate !== null && arrivalDate > before.dueDate;
  const plan = versioned(run.businessId, {
    ...before,
    executionDate,
    arrivalDate,
    dateRule: `on ${executionDate}`,
    decideBy: decideByOf(executionDate),
    flags: late
      ? [...flags, { kind: "late", text: `Arrives ${arrivalDate}, due ${before.dueDate}.` }]
      : flags,
  });
  return { plan, reason: `its execution date ${before.executionDate} has passed` };
}

/** @param line the new line, still with the version that it replaces */
function versioned(businessId: string, line: PlanLine): PlanLine {
  const next = { ...line, version: line.version + 1 };
  return { ...next, lineHash: hashOfLine(businessId, next) };
}

function rule(
  policy: PayRunPlaybook,
  flags: readonly LineFlag[],
  view: ConditionView,
  amountCents: number,
): ReturnType<typeof ruleOfLine> {
  const reviewed: readonly string[] = policy.review;
  const facts = { amountCents, inReview: flags.some((flag) => reviewed.includes(flag.kind)) };
  const found = ruleFor(facts, policy.approve, (condition) => evaluateCondition(condition, view));
  return ruleOfLine(found.rule, found.index);
}

function isChangedAccount(flag: LineFlag): boolean {
  return flag.kind === "changed-bank-account";
}
