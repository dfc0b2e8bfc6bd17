import { definedOnly } from "../../contracts/defined-only.ts";
import type { FundingChoice, PlanLine, PlanSummary, SkippedLine } from "../../contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { planHash, policyHash } from "../approvals/hashes.ts";
import { ruleFor, ruleOfLine } from "../approvals/rules.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { sumCents } from "../money.ts";
import type { Steps } from "../steps.ts";
import type { BillBook } from "./book.ts";
import { byUrgency, cashByDay } from "./cash.ts";
import { type LineDates, planDates } from "./dates.ts";
import type { DecidedBefore } from "./decided-before.ts";
import { type FlagInput, flagsOf } from "./flags.ts";
import { type KnownAccount, proofsIn } from "./known-accounts.ts";
import { hashOfLine } from "./line-hash.ts";
import { isFlagged, isInReview } from "./flagged.ts";
import {
  LimitBook,
  type LimitsInForce,
  overBillLimit,
  type WeekUse,
  wholeCents,
} from "./limits.ts";
import { addsUp, type SummedLine, VendorSums } from "./vendor-sums.ts";
import { findSplits } from "./splits.ts";
import { conditionView, type Matches } from "./condition-view.ts";
import { conditionFailed, type SelectedBill } from "./select.ts";
import type { TwinsOf } from "./twins.ts";
import { usualAmounts } from "./usual-amounts.ts";

export interface PlanInput {
  /** The API's businessId. */
  readonly businessId: string;
  readonly playbook: PayRunPlaybook;
  readonly playbookRevision: number;
  /** The limits in force: the playbook's and the business's. */
  readonly limits: LimitsInForce;
  /** Business-clock instant. */
  readonly nowMs: number;
  readonly book: BillBook;
  /** Bills claimed for this run; those that another owner claimed are in `skipped`. */
  readonly selected: readonly SelectedBill[];
  readonly skipped: readonly SkippedLine[];
  readonly funding: FundingChoice;
  /** Null if the source doesn't say. */
  readonly availableCents: number | null;
  readonly reservedCents: number;
  readonly weekUse: WeekUse;
  readonly known: ReadonlyMap<string, KnownAccount>;
  readonly sent: FlagInput["sent"];
  readonly twins: TwinsOf;
  readonly before: DecidedBefore;
  /** Lines of other runs whose vendor may be paid again; empty unless splits are reviewed. */
  readonly near: readonly SummedLine[];
  readonly matches: Matches;
}

export interface Plan {
  readonly summary: PlanSummary;
  /** Most urgent first. */
  readonly lines: readonly PlanLine[];
  readonly skipped: readonly SkippedLine[];
}

/**
 * Builds the plan of a run: each line with its dates, flags, rule, limits and hash, and a summary.
 *
 * `totalCents` and `lineCount` cover all lines, `flaggedCount` those that `isFlagged` selects.
 * `cash` leaves out lines over a limit, which are parked at once. The same input always gives the
 * same plan and hash.
 */
export function* buildPlan(input: PlanInput): Steps<Plan> {
  const dates = datesByDueDate(input);
  const limits = new LimitBook(input.limits, input.weekUse);
  const facts = {
    ...input,
    proofOf: proofsIn(input.book, input.nowMs, input.known),
    usualCents: usualAmounts(input.book, input.nowMs),
    sums: sumsOf(input, dates),
    splits: yield* splitsOf(input, dates),
  };
  const drafts: PlanLine[] = [];
  const skipped = [...input.skipped];
  for (const selected of input.selected) {
    const draft = draftLine(selected, dates(selected.bill.dueDate), facts);
    if ("failed" in draft) skipped.push(conditionFailed(selected, draft.failed));
    else drafts.push(draft);
    yield;
  }
  const lines = drafts.sort(byUrgency).map((line) => ({ ...line, overLimit: limits.take(line) }));
  return { lines, skipped, summary: summaryOf(lines, skipped, input) };
}

function draftLine(
  selected: SelectedBill,
  dates: LineDates,
  input: PlanInput &
    Pick<FlagInput, "proofOf" | "usualCents" | "splits"> & { readonly sums: VendorSums | null },
): PlanLine | { readonly failed: string } {
  const { bill, vendor, contactId, amountCents } = selected;
  const { playbook } = input;
  const flags = flagsOf(selected, dates, { ...input, review: playbook.review });
  const inReview = isInReview(flags, playbook);
  const view = conditionView(
    bill,
    vendor,
    selected.owedCents ?? amountCents,
    flags.map((flag) => flag.kind),
  );
  let failed: string | undefined;
  const facts = {
    billCents: wholeCents({ amountCents, totalCents: bill.totalCents }),
    besidesCents: input.sums?.besides(summedLine(selected, dates)),
    inReview,
  };
  const found = ruleFor(facts, playbook.approve, (condition) => {
    const answer = input.matches(condition, view);
    if (typeof answer === "boolean") return answer;
    failed ??= answer.failed;
    return false;
  });
  // A rule that can't be evaluated may be the stricter one: a line never falls through to a weaker
  // rule.
  if (failed !== undefined) return { failed };
  const line = {
    payableId: bill.payableId,
    version: 1,
    publicId: bill.publicId,
    contactId,
    contactName: vendor.name ?? bill.contactName,
    description: bill.description,
    amountCents,
    totalCents: bill.totalCents,
    bankLast4: vendor.bankLast4,
    record: vendor.record,
    dueDate: bill.dueDate,
    executionDate: dates.executionDate,
    arrivalDate: dates.arrivalDate,
    dateRule: dates.dateRule,
    clearing: playbook.pay.clearing,
    funding: input.funding,
    flags,
    ...ruleOfLine(found),
    ...definedOnly({ besidesCents: facts.besidesCents }),
    decideBy: dates.decideBy,
    overLimit: null,
  };
  return { ...line, lineHash: hashOfLine(input.businessId, line) };
}

/** Adds up what a plan pays each vendor; null if no rule asks for it. */
function sumsOf(
  { playbook, selected, limits, weekUse }: PlanInput,
  dates: (dueDate: string | null) => LineDates,
): VendorSums | null {
  if (!addsUp(playbook.approve)) return null;
  const lines = selected
    .filter(({ bill, amountCents }) => overBillLimit({ ...bill, amountCents }, limits) === null)
    .map((each) => summedLine(each, dates(each.bill.dueDate)));
  return new VendorSums(lines, weekUse);
}

function* splitsOf(
  { playbook: { review, approve }, ...input }: PlanInput,
  dates: (dueDate: string | null) => LineDates,
): Steps<ReadonlyMap<string, string>> {
  if (!review.includes("split-below-limit")) return new Map();
  const lines = input.selected.map((each) => summedLine(each, dates(each.bill.dueDate)));
  return yield* findSplits({ ...input, approve, lines });
}

function summedLine(
  { bill: { payableId }, contactId, amountCents }: SelectedBill,
  { executionDate }: LineDates,
): SummedLine {
  return { payableId, contactId, amountCents, executionDate };
}

function summaryOf(
  lines: readonly PlanLine[],
  skipped: readonly SkippedLine[],
  input: PlanInput,
): PlanSummary {
  const { playbook } = input;
  const paid = lines.filter((line) => line.overLimit === null);
  const skippedByCode: Record<string, number> = {};
  for (const { code } of skipped) skippedByCode[code] = (skippedByCode[code] ?? 0) + 1;
  return {
    planHash: planHash({
      lineHashes: lines.map((line) => line.lineHash),
      playbook: playbook.name,
      playbookRevision: input.playbookRevision,
      policyHash: policyHash(playbook),
    }),
    lineCount: lines.length,
    totalCents: sumCents(lines.map((line) => line.amountCents)),
    flaggedCount: lines.filter(isFlagged).length,
    skippedCount: skipped.length,
    skippedByCode,
    // Lines are sorted by execution date, so the first one to pay has the first deadline.
    decideBy: paid[0]?.decideBy ?? null,
    cash: cashByDay(paid, input.availableCents, input.reservedCents),
    availableCents: input.availableCents,
    reservedCents: input.reservedCents,
    source: input.funding,
  };
}

/** Computes dates once for each due date: thousands of bills share a few. */
function datesByDueDate(input: PlanInput): (dueDate: string | null) => LineDates {
  const today = newYorkDate(input.nowMs);
  const known = new Map<string | null, LineDates>();
  return (dueDate) => {
    let dates = known.get(dueDate);
    if (dates === undefined) {
      dates = planDates(dueDate, today, input.playbook);
      known.set(dueDate, dates);
    }
    return dates;
  };
}
