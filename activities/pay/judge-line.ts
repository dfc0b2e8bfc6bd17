import type { ClockReading } from "../../src/business/clock.ts";
import {
  type BillFacts,
  type Differs,
  isPartial,
  notAsApproved,
  type VendorFacts,
} from "../../src/domain/payments/as-approved.ts";
import { asksForNewDate, earliestDate } from "../../src/domain/planning/send-date.ts";
import type { Begun } from "../../src/ledger/readings.ts";
import { readingOf } from "../../src/ledger/readings.ts";
import type { Contact, Payable, Payment } from "../../src/payments-api/index.ts";
import { redateLine, replanLine } from "./replan-line.ts";
import type { PayJob, PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import { type Payer, payFieldsNow, sourceFault } from "./payer.ts";
import { payRequest } from "./request-body.ts";

/** What was read of a bill: its payments, then the bill, then its vendor. */
export interface ReadBill extends ListedBill, WithPayer {
  readonly payable: Payable;
  readonly contact: Contact;
}

interface WithPayer {
  readonly payer: Payer;
}

/** A bill as far as the lists show it: enough to tell that it is as it was approved. */
export interface ListedBill {
  readonly begun: Begun;
  readonly payments: readonly Payment[];
  /**
   * The payments as they stand by everything that was ever read of them, if some were known before.
   */
  readonly stand?: readonly Payment[];
  /**
   * For a retry: the only day on which it may run, given those payments; null if it may not run.
   */
  readonly runsOn?: string | null;
  readonly payable: BillFacts;
  readonly contact: VendorFacts;
}

/**
 * Judges what is to be sent for a line, or why nothing is, by what the service shows of its bill
 * now.
 */
export function prepareLine(
  owner: PayOwner,
  job: PayJob,
  read: ReadBill,
  clock: ClockReading,
): PreparedJob {
  const stop = notAsApproved(job.plan, read);
  if (stop === null) return asApproved(owner, job, read, clock);
  const reading = readingOf(read.begun, read.payments);
  const otherwise = stop.kind === "differs" ? plannedAnew(owner, job, read, stop) : stop;
  const prepared = { ...job, reading, payments: read.payments, wish: null, otherwise };
  if (stop.kind !== "paid-elsewhere") return prepared;
  return { ...prepared, approved: payRequest(job.plan, owner, job.plan.executionDate) };
}

/**
 * As `prepareLine`; undefined for a line that is not as it was approved, which is read by itself.
 */
export function prepareListed(
  owner: PayOwner,
  job: PayJob,
  read: ListedBill & WithPayer,
  clock: ClockReading,
): PreparedJob | undefined {
  return notAsApproved(job.plan, read) === null ? asApproved(owner, job, read, clock) : undefined;
}

function asApproved(
  owner: PayOwner,
  job: PayJob,
  read: ListedBill & WithPayer,
  clock: ClockReading,
): PreparedJob {
  const reading = readingOf(read.begun, read.payments);
  const prepared = { ...job, reading, payments: read.payments };
  const fault = sourceFault(job.plan, read.payer);
  if (fault !== null) return { ...prepared, wish: null, otherwise: fault };
  const { date, late } = executionDateOf(owner, job, read, clock);
  if (date === null) return { ...prepared, wish: null, otherwise: NOT_NOW };
  const wish = payRequest(job.plan, owner, date, payFieldsNow(job.plan, read.payer));
  if (!late) return { ...prepared, wish, otherwise: AGAIN };
  return {
    ...prepared,
    wish: null,
    otherwise: { kind: "changed", ...redateLine(owner, job.plan, date) },
  };
}

const AGAIN: PayOutcome = { kind: "back", waitMs: 0, reason: "read again" };

const NOT_NOW: PayOutcome = {
  kind: "back",
  waitMs: 1_000,
  reason:
    "It can't run on the day that was announced, or its approval has ended: it is looked at again.",
};

function plannedAnew(
  owner: PayOwner,
  job: PayJob,
  { payable, contact }: ReadBill,
  { owed: cents, reason }: Differs,
): PayOutcome {
  const owed = isPartial(job.plan) ? Math.min(cents, job.plan.amountCents) : cents;
  const plan = replanLine({ ...owner, ...job }, { payable, contact, owed, reason });
  return { kind: "changed", plan, reason };
}

type SendDate =
  | { readonly date: string; readonly late: boolean }
  /** Nothing is sent: a retry's day has passed, or its approval has ended. */
  | { readonly date: null; readonly late: false };

/**
 * Returns the date to send, and whether using it needs a person's word first (playbook, `late:
 * ask`).
 */
function executionDateOf(
  owner: PayOwner,
  { plan }: PayJob,
  { runsOn }: ListedBill,
  clock: ClockReading,
): SendDate {
  const date = earliestDate(clock);
  if (runsOn !== undefined) {
    return { date: runsOn === null || runsOn < date ? null : runsOn, late: false };
  }
  if (plan.executionDate >= date) return { date: plan.executionDate, late: false };
  return { date, late: asksForNewDate(owner, clock) };
}
