import { definedOnly } from "../../src/contracts/defined-only.ts";
import type { LineFlag, PayFields, PlanLine } from "../../src/contracts/pay-run.ts";
import { ruleFor, ruleOfLine } from "../../src/domain/approvals/rules.ts";
import { addBankingDays } from "../../src/domain/clock/bank-calendar.ts";
import { decideByOf } from "../../src/domain/planning/dates.ts";
import { isInReview } from "../../src/domain/planning/flagged.ts";
import { overBillLimit, wholeCents } from "../../src/domain/planning/limits.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import type { Contact, Payable } from "../../src/payments-api/index.ts";
import { evaluateCondition } from "../../src/playbooks/conditions.ts";
import { conditionView } from "../../src/domain/planning/condition-view.ts";
import type { PayJob, PayOwner } from "./job.ts";
import { billFacts, vendorFacts } from "../shared/bill-facts.ts";
import { accountText, recordKey, recordOf } from "../../src/domain/vendor-account.ts";

/** A line, with the policy that it is planned by. */
type ReplanJob = PayJob & Pick<PayOwner, "policy" | "businessId" | "limits">;

export interface ChangedBill {
  readonly payable: Payable;
  readonly contact: Contact;
  /** What is to be paid of it, in cents. */
  readonly amountCents: number;
  /** All that is still owed, in cents. */
  readonly owedCents: number;
  readonly reason: string;
}

/**
 * Returns the next version of a line whose bill, vendor or amount is not what was approved: flagged
 * with what changed, under the rule that applies to it now.
 */
export function replanLine(job: ReplanJob, changed: ChangedBill): PlanLine {
  const { contact, amountCents, payable } = changed;
  const bankLast4 = contact.bankAccount?.last4 ?? null;
  const flags = job.plan.flags.filter(({ kind }) => kind !== "changed-since-plan");
  if (bankLast4 !== job.plan.bankLast4 && !flags.some(isChangedAccount)) {
    flags.push({
      kind: "changed-bank-account",
      text: `Bank account changed from ${accountText(job.plan.bankLast4)} to ${accountText(bankLast4)} while the run was open.`,
    });
  }
  const paid = { amountCents, totalCents: payable.totalAmountCents };
  if (
    flags.length < job.plan.flags.length ||
    isAnother(job.plan, { contactId: contact.id, ...paid })
  ) {
    const text = `Changed after it was planned: ${changed.reason}. It was not compared with other bills again.`;
    flags.push({ kind: "changed-since-plan", text });
  }
  const kinds = flags.map(({ kind }) => kind);
  const view = conditionView(billFacts(payable), vendorFacts(contact), changed.owedCents, kinds);
  // A different rule may apply now, which need not have stages.
  const { stages: _, sumRules: __, besidesCents, ...before } = job.plan;
  const besides = contact.id === before.contactId ? besidesCents : undefined;
  return versioned(job.businessId, {
    ...before,
    contactId: contact.id,
    contactName: contact.displayName,
    ...paid,
    ...accountOf(job.plan, contact),
    flags,
    ...ruleOfLine(
      ruleFor(
        {
          billCents: wholeCents(paid),
          besidesCents: besides,
          inReview: isInReview(flags, job.policy),
        },
        job.policy.approve,
        (condition) => evaluateCondition(condition, view),
      ),
    ),
    ...definedOnly({ besidesCents: besides }),
    overLimit: overBillLimit(paid, job.limits()),
  });
}

/** True if the review reasons, which its plan judged, might judge it differently now. */
function isAnother(
  before: Pick<PlanLine, "contactId" | "amountCents" | "totalCents">,
  now: Pick<PlanLine, "contactId" | "amountCents" | "totalCents">,
): boolean {
  return (
    now.contactId !== before.contactId ||
    now.totalCents !== before.totalCents ||
    now.amountCents > before.amountCents
  );
}

/**
 * Returns what the next version is compared with. If only the record was changed, it is compared
 * with the one that was planned: its approvers are asked about that by itself.
 */
function accountOf(
  { contactId, bankLast4, record, newAccount }: PlanLine,
  contact: Contact,
): Pick<PlanLine, "bankLast4" | "record" | "newAccount"> {
  const last4 = contact.bankAccount?.last4 ?? null;
  const isSame = contact.id === contactId && last4 === bankLast4;
  if (isSame && newAccount === undefined) return { bankLast4, record };
  const now = recordOf(contact);
  return { bankLast4: last4, record: now, newAccount: recordKey(now.updatedAt) };
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

/** Returns the next version of a line that would be paid with other fields of its source. */
export function payWithOther(
  run: Pick<PayOwner, "businessId">,
  before: PlanLine,
  pay: PayFields,
): PlanLine {
  return versioned(run.businessId, { ...before, funding: { ...before.funding, pay } });
}

/**
 * Returns the next version of a line under an earlier rule, because its vendor is paid more than it
 * was planned for.
 */
export function underRule(
  { businessId, policy }: Pick<PayOwner, "businessId" | "policy">,
  { stages: _, sumRules = [], ...before }: PlanLine,
  index: number,
): PlanLine {
  const rule = policy.approve[index];
  if (rule === undefined) throw new RangeError(`${policy.name} has no rule ${index + 1}`);
  const earlier = sumRules.filter((other) => other < index);
  return versioned(businessId, { ...before, ...ruleOfLine({ rule, index, sumRules: earlier }) });
}

/** @param line the new line, still with the version that it replaces */
function versioned(businessId: string, line: PlanLine): PlanLine {
  const next = { ...line, version: line.version + 1 };
  return { ...next, lineHash: hashOfLine(businessId, next) };
}

function isChangedAccount(flag: LineFlag): boolean {
  return flag.kind === "changed-bank-account";
}
