import type { ClockReading } from "../../src/business/clock.ts";
import type { RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../../src/contracts/names.ts";
import { ENDED_LINE_STATES, ENDED_PHASES, type LineState } from "../../src/contracts/pay-run.ts";
import { nameOfBill } from "../../src/domain/history-texts.ts";
import { giveUpInMs } from "../../src/domain/retries/give-up.ts";
import { nextBankMorningMs } from "../../src/domain/payments/poll-times.ts";
import { soonestRestMs, untilNextMs } from "../../src/domain/rests.ts";
import type { Payable, Payment } from "../../src/payments-api/index.ts";
import { timesPaidAgain } from "../../src/ledger/times-paid-again.ts";
import { notedPayment } from "../../src/ledger/notes.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { releaseClaim } from "../../src/store/claims.ts";
import { databaseNowMs } from "../../src/store/database-clock.ts";
import { changeLine, getRunLine, type LineChange, type RunLine } from "../../src/store/lines.ts";
import { nextHoldEndMs } from "../../src/store/next-changes.ts";
import { forgetRetryCase, getRetryCase } from "../../src/store/retry-cases.ts";
import { clearLook, updateRetry, type Retry, type RetryChange } from "../../src/store/retries.ts";
import { getPlanLine } from "../../src/store/plans.ts";
import type { Run } from "../../src/store/runs.ts";
import { tellOf } from "../../src/store/tellings.ts";
import { adviseVendors } from "../advise-vendors.ts";
import type { ActivityContext } from "../context.ts";
import { takePayments } from "../take-payments.ts";
import { tellParked } from "../tell-parked.ts";
import { unlessMissing } from "../unless-missing.ts";
import { takeOver, type Subject } from "./take-over.ts";

const HOUR_MS = 3_600_000;

const LINE_WAITS: readonly string[] = ["contact_not_payable", "approval_required"];

export type OpenedCase =
  | { readonly kind: "ours"; readonly case: RetryCase }
  | {
      readonly kind: "not-ours";
      readonly reason: string;
      /** True where no run has ever paid it. */
      readonly isStranger?: boolean;
    };

/**
 * Reads a case, taking the payable over where nobody has it: after a late return the run that
 * paid it has ended, and an event starts this owner out of nothing.
 */
export async function openRetryCase(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
): Promise<OpenedCase> {
  const { business, payableId } = input;
  const { businessId } = context.profileOf(business);
  const subject = {
    business,
    businessId,
    payableId,
    workflowId: retryFailedPaymentId(business, payableId),
  };
  const clock = await context.clockOf(business).now();
  const { db } = context.store;
  // The flag goes before the look: an event that comes meanwhile sets it again.
  const look = await clearLook(db, { businessId, payableId });
  const client = context.clientOf(business);
  const read = await client.payments.listAll({ payableId });
  const taken = await takeOver(context, subject, read, clock);
  if (taken.kind === "not-ours") return taken;
  const { run } = taken;
  const line = await getRunLine(db, run.runId, payableId);
  if (line === undefined) return { kind: "not-ours", reason: "no run has paid it" };
  const row = { ...taken.row, look, retriesMade: await timesPaidAgain(db, line) };
  const follower = { businessId, actor: subject.workflowId, runId: run.runId, nowMs: clock.realMs };
  const payments = await takePayments(context, follower, read);
  const payable = await unlessMissing(() => client.payables.get(payableId));
  if (payable === null) return letGo(context, subject, line, clock);
  const about = nameOfBill({ payableId, ...(await getPlanLine(db, run.runId, payableId)) });
  const facts = { about, run, row, payments, payable, line, clock };
  return { kind: "ours", case: new RetryCase(context, subject, facts) };
}

/** Nobody can pay a bill that the service doesn't know: its line says so, and its owner ends. */
async function letGo(
  context: ActivityContext,
  { businessId, payableId, workflowId }: Subject,
  line: RunLine,
  clock: ClockReading,
): Promise<OpenedCase> {
  const reason = "The service doesn't know this bill any more.";
  await context.store.transactionOf(businessId, async (trx) => {
    const change = { state: "parked", reasonCode: "not-found", reason } as const;
    if (!ENDED_LINE_STATES.includes(line.state)) {
      await changeLine(trx, line, change, clock.realMs, { from: [line.state] });
      tellOf(trx, businessId, { kind: "workflow", workflowId: line.runId });
      await appendAudit(trx, {
        businessId,
        nowMs: clock.realMs,
        actor: workflowId,
        action: "line:parked",
        subject: payableId,
        details: { from: line.state, reasonCode: change.reasonCode },
      });
    }
    const ended = { phase: "ended", reason, requested: null };
    await updateRetry(trx, { businessId, payableId }, ended, clock.realMs);
    await releaseClaim(trx, { businessId, payableId, owner: workflowId });
  });
  return { kind: "not-ours", reason };
}

interface CaseFacts {
  readonly about: string;
  readonly run: Run;
  readonly line: RunLine;
  readonly row: Retry;
  readonly payments: readonly Payment[];
  readonly payable: Payable;
  readonly clock: ClockReading;
}

/** One failed payable with everything read about it at one moment. */
export class RetryCase {
  readonly business: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly workflowId: string;
  /** The bill, as people call it. */
  readonly about: string;
  readonly run: Run;
  readonly line: RunLine;
  readonly row: Retry;
  readonly payments: readonly Payment[];
  readonly payable: Payable;
  readonly clock: ClockReading;
  readonly #context: ActivityContext;

  constructor(context: ActivityContext, subject: Subject, facts: CaseFacts) {
    this.#context = context;
    this.business = subject.business;
    this.businessId = subject.businessId;
    this.payableId = subject.payableId;
    this.workflowId = subject.workflowId;
    this.about = facts.about;
    this.run = facts.run;
    this.line = facts.line;
    this.row = facts.row;
    this.payments = facts.payments;
    this.payable = facts.payable;
    this.clock = facts.clock;
  }

  /** What was paid for the line, less the failures that have been dealt with. */
  undealtPayments(): readonly Payment[] {
    const { line, row } = this;
    return this.payments.filter(
      ({ id }) => line.paymentIds.includes(id) && !row.handledPaymentIds.includes(id),
    );
  }

  /**
   * Service-clock instant before which the line rests, a running lease included. What waits for
   * the vendor's bank account or the bill's own approval rests no longer once an event has come.
   */
  async notBeforeMs(): Promise<number> {
    const { db } = this.#context.store;
    const rest = await db
      .selectFrom("run_lines")
      .select(["not_before_ms", "lease_until_ms"])
      .where("run_id", "=", this.run.runId)
      .where("payable_id", "=", this.payableId)
      .executeTakeFirst();
    const leaseMs = Math.max(0, (rest?.lease_until_ms ?? 0) - (await databaseNowMs(db)));
    const leasedUntilMs = leaseMs > 0 ? this.clock.serviceMs + leaseMs : 0;
    const told = this.row.look && LINE_WAITS.includes(this.line.reasonCode ?? "");
    return told ? leasedUntilMs : Math.max(rest?.not_before_ms ?? 0, leasedUntilMs);
  }

  /** Real milliseconds until something about it can change that nobody tells of. */
  async restMs(): Promise<number> {
    const { db } = this.#context.store;
    const { businessId, payableId, clock } = this;
    const businessMs = Math.floor(clock.businessMs);
    const kept = await getRetryCase(db, businessId, payableId);
    const looksAtVendor = kept?.waitsFor === "bank-account" || kept?.waitsFor === "either-side";
    const vendorMs = looksAtVendor ? nextBankMorningMs(businessMs) : null;
    const givenUpInMs = kept === undefined ? Infinity : giveUpInMs(kept, clock);
    // What a person has asked for is not given up, whenever its time is over.
    const leftMs = givenUpInMs === 0 ? HOUR_MS : givenUpInMs;
    const holdEndMs = await nextHoldEndMs(db, { businessId, businessMs });
    return soonestRestMs(untilNextMs([holdEndMs, vendorMs], clock), leftMs);
  }

  /** Changes the line, unless somebody else, a person for example, has moved it meanwhile. */
  async setLine(change: LineChange, from: readonly LineState[] = [this.line.state]): Promise<void> {
    await this.#context.store.transactionOf(this.businessId, async (trx) => {
      const moved = await changeLine(trx, this.line, change, this.clock.realMs, { from });
      const { state, reason } = { ...this.line, ...change };
      const isNews = moved && (state !== this.line.state || reason !== this.line.reason);
      if (isNews) tellOf(trx, this.businessId, { kind: "workflow", workflowId: this.run.runId });
      if (!moved || change.state === undefined || change.state === this.line.state) return;
      const payments = this.payments.filter(({ id }) => this.line.paymentIds.includes(id));
      await appendAudit(trx, {
        businessId: this.businessId,
        nowMs: this.clock.realMs,
        actor: this.workflowId,
        action: `line:${change.state}`,
        subject: this.payableId,
        details: {
          from: this.line.state,
          reasonCode: change.reasonCode ?? null,
          payments: payments.map(notedPayment),
        },
      });
      if (change.state !== "settled") return;
      const bill = { payableId: this.payableId, payments };
      await adviseVendors(trx, this.run, [bill], this.clock.realMs);
    });
  }

  async update(change: RetryChange): Promise<void> {
    const { businessId, payableId, clock } = this;
    await updateRetry(this.#context.store.db, { businessId, payableId }, change, clock.realMs);
  }

  /** Ends the case and gives the payable back. */
  async end(outcome: string): Promise<void> {
    const { businessId, payableId, workflowId, clock } = this;
    await this.#context.store.transactionOf(businessId, async (trx) => {
      const change = { phase: "ended", reason: outcome, requested: null };
      await updateRetry(trx, { businessId, payableId }, change, clock.realMs);
      await forgetRetryCase(trx, { businessId, payableId });
      await releaseClaim(trx, { businessId, payableId, owner: workflowId });
    });
    await this.tellPeople();
  }

  /** Of a bill whose run has ended people are told here; a run that is at work tells of its own. */
  async tellPeople(): Promise<void> {
    if (!ENDED_PHASES.includes(this.run.phase)) return;
    const when = { nowMs: this.clock.realMs, isLast: true };
    await this.#context.store.transactionOf(this.businessId, (trx) =>
      tellParked(trx, this.run, when),
    );
  }
}
