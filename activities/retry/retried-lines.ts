import { wakeUp, wakeWorkflow } from "../../src/domain/facts/fact.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { mayReturnUntilMs } from "../../src/domain/payments/return-window.ts";
import { timesPaidAgain } from "../../src/ledger/times-paid-again.ts";
import type { LineChange } from "../../src/store/lines/lines.ts";
import { extendSubscription } from "../../src/store/payables/subscriptions.ts";
import { updateRetry } from "../../src/store/retries/retries.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { notifyOfChangedRecords } from "../notify/changed-records.ts";
import type { LineOwner, PayJob, PayOutcome, StoppedCode } from "../pay/job.ts";

/** How long a retry waits if its vendor or bill can't be paid now, unless an event comes. */
const RETRY_LINE_WAIT_MS = 600_000;

/** The reason of a bill whose state says only that it is being retried. */
const PAID_AGAIN = "It was sent again, and its new payment has not settled yet.";

/** Says why nothing more of a line is paid. */
export const STOPPED: Readonly<Record<StoppedCode, string>> = {
  run_cancelled: "Its run was cancelled, so nothing more of it is paid.",
  rejected: "Its run was rejected, so nothing more of it is paid.",
  dropped: "An approver left it out, so it is not sent again.",
};

/** Lines that retries pay again. A retry keeps the line of its bill, or the run would lease it. */
export const RETRIED_LINES: LineOwner = {
  waits: "retrying",
  mayPay: "retrying",
  paid: () => ({ state: "retrying", reason: PAID_AGAIN }),
  lineWaits: retriesLater,
  onHold: { state: "retrying" },
  asked: retriesLater,
  notApproved: {
    state: "parked",
    reasonCode: "approval_expired",
    reason: "No valid approval of it is stored any more. The next run asks again.",
  },
  stopped: (code) => ({ state: "parked", reason: STOPPED[code] }),
  changed: (reason) => ({
    state: "parked",
    reason: `Not retried: ${reason}. The next run asks for a new approval.`,
  }),
  noMoney: {},
  onlyAsLeased: false,
  also: async (trx, { businessId }, job, outcome, clock) => {
    if (outcome.kind === "applied") await countRetry(trx, businessId, job, outcome, clock);
    // Its run may have ended: nothing looks at the run's lines any more.
    else if (WAITS_FOR_WORD.includes(outcome.kind)) {
      await notifyOfChangedRecords(trx, businessId, clock, true);
    }
    await record(trx, wakeUp(businessId, wakeWorkflow(job.line.runId)));
  },
};

function retriesLater({ serviceMs }: ClockReading): LineChange {
  return { state: "retrying", notBeforeMs: serviceMs + RETRY_LINE_WAIT_MS };
}

const WAITS_FOR_WORD: readonly PayOutcome["kind"][] = ["line-wait", "on-hold", "record-changed"];

async function countRetry(
  trx: Transaction<Tables>,
  businessId: string,
  { line, plan: { payableId } }: PayJob,
  outcome: PayOutcome & { readonly kind: "applied" },
  clock: ClockReading,
): Promise<void> {
  const paymentIds = [...line.paymentIds, ...outcome.paymentIds];
  const retriesMade = await timesPaidAgain(trx, { businessId, payableId, paymentIds });
  const change = { phase: "following", requested: null, retriesMade, moneyTaken: false };
  await updateRetry(trx, { businessId, payableId }, change, clock.realMs);
  const untilMs = mayReturnUntilMs(clock.businessMs);
  await extendSubscription(trx, { businessId, payableId, untilMs });
}
