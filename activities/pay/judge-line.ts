import type { ClockReading } from "../../src/business/clock.ts";
import {
  type BillToPay,
  type Differs,
  isPaidOff,
  isPartial,
  notAsApproved,
  type VendorToPay,
} from "../../src/domain/payments/as-approved.ts";
import type { UnreadablePayment } from "../../src/domain/unreadable.ts";
import { earliestDate, newDateOf } from "../../src/domain/planning/send-date.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { VendorRecord } from "../../src/contracts/pay-run.ts";
import type { Reading } from "../../src/ledger/facts.ts";
import { payRequest } from "../../src/ledger/requests.ts";
import type { Contact, Payable, Payment } from "../../src/payments-api/index.ts";
import { payWithOther, redateLine, replanLine } from "./replan-line.ts";
import type { PayJob, PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import type { Payer } from "../shared/own-sources.ts";
import { otherFields, sourceFault } from "./payer.ts";

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
  /** All that is listed for the bill, for the ledger: also what names another bill. */
  readonly reading: Reading;
  /** The bill's payments. */
  readonly payments: readonly Payment[];
  /** Payments that can't be read and may be of any bill. */
  readonly unclear: readonly UnreadablePayment[];
  /**
   * The payments as they stand by everything that was ever read of them, if some were known before.
   */
  readonly stand?: readonly Payment[];
  /**
   * For a retry: the only day on which it may run, given those payments; null if it may not run.
   */
  readonly runsOn?: string | null;
  readonly payable: BillToPay;
  readonly contact: VendorToPay;
  /** The vendor's record, read with the rest. */
  readonly record: VendorRecord;
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
  const otherwise = stop.kind === "differs" ? plannedAnew(owner, job, read, stop) : stop;
  return withoutWish(owner, job, read, otherwise);
}

/** Statuses that no bill leaves again; a blocked one may be paid on its day after all. */
const NEVER_PAID: readonly LineReason[] = ["payable_void", "payable_declined"];

/**
 * As `prepareLine`, for a line of which nothing is to be sent now; undefined unless its bill
 * certainly needs no payment any more, or may never be paid.
 */
export function prepareEnded(
  owner: PayOwner,
  job: PayJob,
  read: ReadBill,
): (PreparedJob & { readonly wish: null }) | undefined {
  const stop = notAsApproved(job.plan, read);
  const isOver =
    (stop?.kind === "paid-elsewhere" && isPaidOff(read)) ||
    (stop?.kind === "parked" && NEVER_PAID.includes(stop.code));
  return isOver ? withoutWish(owner, job, read, stop) : undefined;
}

function withoutWish(
  owner: PayOwner,
  job: PayJob,
  { reading, payments, record }: ReadBill,
  otherwise: PayOutcome,
): PreparedJob & { readonly wish: null } {
  const prepared = { ...job, reading, payments, record, wish: null, otherwise };
  if (otherwise.kind !== "paid-elsewhere") return prepared;
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
  const { reading, payments, record } = read;
  const prepared = { ...job, reading, payments, record };
  const fault = sourceFault(job.plan, read.payer);
  if (fault !== null) return { ...prepared, wish: null, otherwise: fault };
  const other = otherFields(job.plan, read.payer);
  if (other !== null) {
    const { pay, reason } = other;
    const plan = payWithOther(owner, job.plan, pay);
    const otherwise: PayOutcome = { kind: "changed", plan, reason };
    return { ...prepared, wish: null, otherwise };
  }
  const { date, late } = executionDateOf(owner, job, read, clock);
  if (date === null) return { ...prepared, wish: null, otherwise: NOT_NOW };
  const wish = payRequest(job.plan, owner, date);
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
  { owed: owedCents, reason }: Differs,
): PayOutcome {
  const { plan: before } = job;
  const amountCents = isPartial(before) ? Math.min(owedCents, before.amountCents) : owedCents;
  const changed = { payable, contact, amountCents, owedCents, reason };
  const plan = replanLine({ ...owner, ...job }, changed);
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
  const anew = newDateOf(plan.executionDate, owner, clock);
  if (anew === undefined) return { date: plan.executionDate, late: false };
  return { date, late: anew.asksAgain };
}
