import { wakeUp, wakeWorkflow } from "../../src/domain/facts/fact.ts";
import { record } from "../../src/store/facts/record.ts";
import { serviceWaitText } from "../../src/domain/service-waits.ts";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import { DAY_MS } from "../../src/contracts/durations.ts";
import type { PlanSummary } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { onlyPlans } from "../../src/domain/plan-only.ts";
import { type OffCycle, offCycleOf } from "../../src/domain/off-cycle.ts";
import type { BillBook } from "../../src/domain/planning/book.ts";
import { provesAccount } from "../../src/domain/planning/known-accounts.ts";
import { buildPlan, type Plan } from "../../src/domain/planning/plan.ts";
import { paidInParts } from "../../src/domain/planning/vendor-sums.ts";
import {
  claimedElsewhere,
  type SelectedBill,
  selectBills,
  type Selection,
} from "../../src/domain/planning/select.ts";
import { unreadableWarning } from "../../src/domain/planning/left-out.ts";
import { comparedIds, findTwins } from "../../src/domain/planning/twins.ts";
import { checkCondition, matches } from "../../src/playbooks/conditions.ts";
import { claimOwners, claimPayables } from "../../src/store/payables/claims.ts";
import { decidedBefore, refusedBills } from "../../src/store/approvals/decided-before.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { reservedCents } from "../../src/store/lines/reserved.ts";
import { getRun, isOfBusiness, isOver, type Run, setRunPhase } from "../../src/store/runs/runs.ts";
import { accountingWarning } from "./accounting-sync.ts";
import { type ChosenFunding, chooseFunding } from "../shared/choose-funding.ts";
import type { ActivityContext } from "../shared/context.ts";
import { inTurns } from "../shared/in-turns.ts";
import { limitsOf } from "../shared/limits-of.ts";
import { keepPlan } from "./keep-plan.ts";
import {
  knownAccounts,
  type SettledLine,
  lastSent,
  nearLines,
  weekUse,
} from "../../src/store/plans/plan-history.ts";
import { PlanRefusedError } from "../shared/plan-refused-error.ts";
import { readBills } from "../shared/read-bills.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { type DepositFrom, depositFrom } from "../deposit/account.ts";
import { planTopUp } from "../deposit/plan-top-up.ts";
import { notifyOfOverpaid } from "../notify/overpaid-bills.ts";
import { notifyOfUnread } from "../notify/while-unread.ts";

/** A bill that was entered again after its rejection has any date: then this counts. */
const RECENT_DAYS = 30;

/** What is planned, in a run or a dry run. */
export interface PlanSubject {
  readonly runId: string;
  /** The profile's name. */
  readonly business: string;
  readonly businessId: string;
  readonly playbook: PayRunPlaybook;
  readonly playbookRevision: number;
  readonly period: string;
  readonly offCycle: OffCycle | null;
}

/** What was read for a plan, once. */
interface Reading {
  readonly nowMs: number;
  readonly book: BillBook;
  readonly funding: ChosenFunding;
  /** Real instant at which reading the funding source began. */
  readonly readAtMs: number;
  /** Left out if the playbook allows no deposit. */
  readonly deposits?: DepositFrom;
  readonly selection: Selection;
}

/**
 * Plans a run: read, select, claim, plan, store. A stored plan is returned as it is, so running
 * again never changes what was approved.
 *
 * @returns undefined if there is nothing to plan: a person has cancelled the run
 * @throws {PlanRefusedError} a person must change something first
 */
export async function planOnce(
  context: ActivityContext,
  runId: string,
): Promise<PlanSummary | undefined> {
  const run = await getRun(context.store.db, runId);
  // If the store has lost the run meanwhile, the next look says so.
  if (run === undefined || isOver(run)) return undefined;
  if (!isOfBusiness(run.policy, run.business)) {
    throw new PlanRefusedError(`The playbook “${run.playbook}” is not ${run.business}'s.`);
  }
  const stored = await getPlan(context.store.db, runId);
  if (stored !== undefined) return stored.summary;
  const subject: PlanSubject = { ...run, playbook: run.policy, offCycle: offCycleOf(run.inputs) };
  const reading = await readOrWait(context, run, () => readForPlan(context, subject));
  if (reading === undefined) throw await whileUnread(context, run);
  await notifyOfOverpaid(context, run, reading.book.bills);
  const selection = onlyPlans(run.policy)
    ? await unclaimed(context, subject, reading)
    : await claim(context, subject, reading);
  if (selection === undefined) return undefined;
  const plan = await makePlan(context, subject, { ...reading, selection });
  return keepPlan(context, run, plan, reading);
}

/** Shows in the run what its plan waits for; a notice says so too if that lasts. */
async function whileUnread(context: ActivityContext, run: Run): Promise<Error> {
  const clock = await context.clockOf(run.business).now();
  return context.store.transactionOf(run.businessId, async (trx) => {
    const [wait] = await notifyOfUnread(trx, run, clock);
    const message = wait?.message ?? "The service can't be read now.";
    const waitingFor = serviceWaitText(wait ?? { message, retryAtMs: 0 }, clock);
    await setRunPhase(trx, run.runId, { phase: "planning", waitingFor });
    // The run shows what it waits for. Another time of the next try is no news for its workflow.
    if (run.waitingFor?.endsWith(`: ${message}`) !== true) {
      await record(trx, wakeUp(run.businessId, wakeWorkflow(run.runId)));
    }
    return new Error(`Not planned yet: ${message}`);
  });
}

/**
 * Refuses a playbook with a condition that can't be used. One from a time when conditions could do
 * more would leave out every bill, run after run.
 */
function refuseUnfit({ playbook }: PlanSubject): void {
  const rules = playbook.approve.map(({ where }) => ({ where, use: "approve" as const }));
  for (const { where, use } of [{ where: playbook.where, use: "select" as const }, ...rules]) {
    const [fault] = where === null ? [] : checkCondition(where, use);
    if (fault === undefined) continue;
    const way =
      "“payrun validate” on its file shows the place; “payrun apply” stores a better one.";
    throw new PlanRefusedError(
      `The playbook “${playbook.name}” has a condition that can't be used, “${where}”: ${fault.message}. ${way}`,
    );
  }
}

export async function readForPlan(
  context: ActivityContext,
  subject: PlanSubject,
): Promise<Reading> {
  refuseUnfit(subject);
  const client = context.clientOf(subject.business);
  const profile = context.profileOf(subject.business);
  const readAtMs = Date.now();
  const { pay } = subject.playbook;
  const funding = await chooseFunding(client, profile, pay.from);
  const deposits = pay.topUp && (await depositFrom(client, profile, pay.topUp));
  const book = await readBills(client);
  const { businessMs } = await context.clockOf(subject.business).now();
  const holds = await activeHolds(context.store.db, subject.businessId, businessMs);
  const steps = selectBills({
    book,
    playbook: subject.playbook,
    period: subject.period,
    runId: subject.runId,
    sourceId: funding.choice.sourceId,
    accountId: funding.choice.pay.bankAccountId ?? null,
    holds,
    matches,
    only: subject.offCycle,
  });
  const read = { nowMs: businessMs, book, funding, readAtMs, selection: await inTurns(steps) };
  return deposits === undefined ? read : { ...read, deposits };
}

/**
 * Claims bills before they are hashed: a bill lost to another owner is left out, and changes no
 * hash later.
 */
async function claim(
  context: ActivityContext,
  { businessId, runId: owner }: PlanSubject,
  reading: Reading,
): Promise<Selection | undefined> {
  const payableIds = reading.selection.selected.map(({ bill }) => bill.payableId);
  const refused = await context.store.transactionOf(businessId, async (trx) => {
    if (isOver(await getRun(trx, owner))) return undefined;
    const claimed = await claimPayables(trx, { businessId, payableIds, owner, nowMs: Date.now() });
    return claimed.refused;
  });
  if (refused === undefined) return undefined;
  const owners = new Map(refused.map((each) => [each.payableId, each.owner]));
  return withoutClaimed(reading.selection, (payableId) => owners.get(payableId));
}

/** Returns the selection without the bills that others have claimed; claims none itself. */
export async function unclaimed(
  context: ActivityContext,
  { businessId, runId }: PlanSubject,
  { selection }: Reading,
): Promise<Selection> {
  const ids = selection.selected.map(({ bill }) => bill.payableId);
  const owners = await claimOwners(context.store.db, businessId, ids);
  return withoutClaimed(selection, (payableId) => {
    const owner = owners.get(payableId);
    return owner === runId ? undefined : owner;
  });
}

function withoutClaimed(
  selection: Selection,
  ownerOf: (payableId: string) => string | undefined,
): Selection {
  const selected: SelectedBill[] = [];
  const skipped = [...selection.skipped];
  for (const each of selection.selected) {
    const owner = ownerOf(each.bill.payableId);
    if (owner === undefined) selected.push(each);
    else skipped.push(claimedElsewhere(each, owner));
  }
  return { selected, skipped };
}

/** Returns the bills of which there is a payment, whatever became of it. */
function withPayments({ book, selection }: Reading): string[] {
  const ids = selection.selected.map(({ bill }) => bill.payableId);
  return ids.filter((id) => book.paymentsOf(id).length > 0);
}

/** Returns the test for lines whose payments have proved their account by now. */
function isProofIn({ book, nowMs }: Reading): (line: SettledLine) => boolean {
  const proves = provesAccount(nowMs);
  return ({ payableId, paymentIds }) =>
    book
      .paymentsOf(payableId)
      .some((payment) => paymentIds.includes(payment.id) && proves(payment));
}

export async function makePlan(
  context: ActivityContext,
  subject: PlanSubject,
  reading: Reading,
): Promise<Plan> {
  const { db } = context.store;
  const { businessId, runId } = subject;
  const { choice, availableCents, noPayment } = reading.funding;
  const { accounting } = subject.playbook;
  const exceptPayableIds = reading.selection.selected.map(({ bill }) => bill.payableId);
  // In a dry run, the period's own run may be under way: it has promised money that this plan
  // doesn't pay.
  const today = newYorkDate(reading.nowMs);
  const others = { businessId, exceptRunId: runId, exceptPayableIds, today };
  const refused = await refusedBills(db, businessId, Date.now() - RECENT_DAYS * DAY_MS);
  const twins = await inTurns(findTwins(reading.book, reading.selection.selected, refused));
  const before = await decidedBefore(db, businessId, {
    planned: exceptPayableIds,
    compared: comparedIds(twins),
  });
  const partsOf = paidInParts(subject.playbook.approve, reading.selection.selected);
  const steps = buildPlan({
    businessId,
    playbook: subject.playbook,
    playbookRevision: subject.playbookRevision,
    limits: limitsOf(context, { business: subject.business, policy: subject.playbook }),
    nowMs: reading.nowMs,
    book: reading.book,
    ...reading.selection,
    funding: choice,
    availableCents,
    reservedCents: await reservedCents(db, { ...others, sourceId: choice.sourceId }),
    weekUse: await weekUse(db, { ...others, partsOf }),
    near: await nearLines(db, others, subject.playbook.review),
    known: await knownAccounts(
      db,
      businessId,
      reading.selection.selected.map(({ contactId }) => contactId),
      isProofIn(reading),
    ),
    sent: await lastSent(db, businessId, withPayments(reading)),
    twins,
    before,
    matches,
  });
  const plan = await inTurns(steps);
  const client = context.clientOf(subject.business);
  const stale =
    accounting === undefined
      ? null
      : await accountingWarning(client, businessId, accounting, reading.nowMs);
  const asked = await planTopUp(db, { ...subject, summary: plan.summary, reading });
  const unreadable = unreadableWarning(plan.skipped);
  const warnings = [noPayment, stale, asked.warning, unreadable].filter(
    (warning) => warning !== null,
  );
  const summary = {
    ...plan.summary,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...definedOnly({ topUp: asked.topUp ?? undefined }),
  };
  return { ...plan, summary };
}
