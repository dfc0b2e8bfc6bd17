import type { JudgedAnswer } from "../../src/ledger/answers.ts";
import { pay } from "../../src/ledger/operations.ts";
import type { Said } from "../../src/ledger/said.ts";
import { isSameLine } from "../../src/ledger/shown.ts";
import { businessFault } from "../shared/business-fault.ts";
import type { ActivityContext } from "../shared/context.ts";
import { type Heard, type InBatches, type MoneyWrite, perform } from "../shared/perform.ts";
import { askToPay, ofClosed } from "./ask-gate.ts";
import { outcomeOfError } from "./error-outcome.ts";
import type { PayJob, PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import { prepareLine } from "./judge-line.ts";
import { readBill } from "./read-bills.ts";
import { recordOutcome, writeOutcome } from "./record.ts";

/** A leased line, and for whom it is paid. */
interface OwnedJob {
  readonly owner: PayOwner;
  readonly job: PayJob;
}

interface Paid {
  readonly outcome: PayOutcome;
  /** False if it doesn't apply any more: see `writeOutcome`. */
  readonly isMine: boolean;
}

/** A lane takes a success, which it records with others. */
export type Take = InBatches<PreparedJob, Paid>["take"];

/**
 * Pays one leased line, and records what came of it; a lane's success is left to the lane. What
 * fails unforeseen is an outcome too, unless it can't be recorded.
 */
export async function payLine(
  context: ActivityContext,
  { owner, job }: OwnedJob,
  lane?: InBatches<PreparedJob, Paid>,
): Promise<Paid> {
  try {
    const paid = await perform(context, PAY_LINE, { owner, job }, lane);
    if (paid === undefined) throw new Error(`nothing came of ${job.plan.payableId}`);
    return paid;
  } catch (error) {
    const outcome = await outcomeOfError(context, owner, job, error);
    return { outcome, isMine: await recordOutcome(context, owner, job, outcome) };
  }
}

/**
 * The age that our reading of the business clock may have: the next key must not repeat its date.
 */
const CLOCK_MAY_LAG_MS = 1_100;

/** Pays one leased line. Further tries than these belong to a later lease, which reads anew. */
export const PAY_LINE: MoneyWrite<OwnedJob, PreparedJob, Paid> = {
  operation: pay,
  businessOf: ({ owner }) => owner,
  read: async (context, { owner, job }) => {
    const clocks = context.clockOf(owner.business);
    const read = await readBill(context, owner, job, await clocks.now());
    return prepareLine(owner, job, read, await clocks.now());
  },
  ask: async (context, trx, { owner }, seen, clock) =>
    (await askToPay(context, trx, owner, [seen], clock)).get(seen.plan.payableId),
  pausesMs: [500, 2_000],
  again: ({ said, result }: JudgedAnswer) => {
    switch (said.kind) {
      case "unknown":
        return result === "unknown";
      case "refused":
        return isDatePassed(said) ? CLOCK_MAY_LAG_MS : false;
      case "later":
        // The client dropped its token after a 401; one more send fetches a new one.
        return said.code === "unauthorized" ? 0 : result === "not-sent";
      default:
        return false;
    }
  },
  record: async (trx, { owner, job }, said, heard) => {
    const outcome = outcomeOfPayment(owner, said, heard);
    return { outcome, isMine: await writeOutcome(trx, owner, job, outcome, heard.clock) };
  },
};

/** True if the date has passed since it was chosen. A person must lift any other cause. */
function isDatePassed({ code, field, message }: Said & { readonly kind: "refused" }): boolean {
  return (
    code === "validation_error" && (field === "scheduledAt" || message.includes("scheduledAt"))
  );
}

/** Judges what becomes of a line by what was said of its payment. */
export function outcomeOfPayment(
  owner: PayOwner,
  said: Said,
  { seen: job, sent, closed, isOpen }: Heard<PreparedJob>,
): PayOutcome {
  switch (said.kind) {
    case "applied": {
      const { ids: paymentIds, found, isNew } = said;
      if (isNew || isNews(job, said)) {
        const shown = sent === null ? job.payments : said.payments;
        const payments = shown.filter(({ id }) => paymentIds.includes(id));
        return { kind: "applied", payments, paymentIds, found, sent };
      }
      if (closed !== null) return ofClosed(owner, job, closed);
      // The line is to be paid again, while the service shows its payment as still valid: it is not
      // known for how long.
      return job.wish === null ? job.otherwise : { kind: "back", waitMs: null, reason: STANDS };
    }
    case "unknown":
      return said;
    case "refused": {
      const { code, field, message } = said;
      const where = field === null ? "" : ` (${field})`;
      const reason = `The service refused the payment${where}: ${message}. Correct that, then try it again.`;
      return { kind: "parked", code, reason };
    }
    case "later": {
      const { reason, waitMs } = said;
      if (said.of === "request") return { kind: "back", waitMs, reason };
      if (said.of === "line") return { kind: "line-wait", code: said.code, message: reason };
      return { ...businessFault(said.code, reason, waitMs), scope: said.of, isOpen };
    }
    case "person":
      return { kind: "parked", code: said.code, reason: said.reason };
    case "closed":
    case "idle":
      return closed === null ? job.otherwise : ofClosed(owner, job, closed);
  }
}

/** True if payments that the ledger knew of are this line's own, and the line doesn't know them. */
function isNews({ line }: PayJob, said: Said & { readonly kind: "applied" }): boolean {
  const ours = { runId: line.runId, approvedHash: line.lineHash };
  const isOurs = said.line === null || isSameLine(said.line, ours);
  return isOurs && !said.ids.every((id) => line.paymentIds.includes(id));
}

const STANDS = "The service shows an earlier payment of it as one that may still arrive.";
