import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { mayStillPay } from "../../src/ledger/derive.ts";
import type { Reading, SubjectFacts, Wish } from "../../src/ledger/facts.ts";
import { mayDeposit } from "../../src/ledger/gate-deposit.ts";
import { askAbout } from "../../src/ledger/gate.ts";
import { saidNo } from "../../src/ledger/last-send.ts";
import { deposit } from "../../src/ledger/operations.ts";
import { depositRequest } from "../../src/ledger/requests.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { PaymentsApiError, type TimeLimit } from "../../src/payments-api/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { changeTopUp, openTopUpsOf, type TopUp } from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { textOfError } from "../shared/error-text.ts";
import { leave, leaveLimit, recordAnswer } from "../pay/leave.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { backOff } from "../shared/back-off.ts";
import { afterDeposit } from "./after-deposit.ts";
import type { Needed } from "./demand.ts";
import { readNeeded, reviewNeeded } from "./needed.ts";
import { followDeposit } from "./follow-deposit.ts";
import { readTransactions } from "./read-transactions.ts";
import { closedWaitMs, recordDeposit, backOffDeposit } from "./record-deposit.ts";
import { withoutDeposit } from "./without-deposit.ts";

/** The workflow and the worker that take deposits a step further. */
interface Asking {
  readonly owner: string;
  /** Worker and activity attempt. */
  readonly by: string;
}

/**
 * Takes a workflow's open deposits one step further: sends what is approved, looks up what had no
 * answer, and reads how far the money on its way has got.
 */
export async function makeDeposits(context: ActivityContext, asking: Asking): Promise<void> {
  for (const topUp of await openTopUpsOf(context.store.db, asking.owner)) {
    await readOrWait(context, topUp, () =>
      oneStep(context, topUp, asking.by).catch((error: unknown) =>
        cannotRead(context, topUp, error),
      ),
    );
  }
}

/**
 * Backs off if the balance can't be read. A token that may pay but not read the balance must not
 * stop the business's payments.
 */
async function cannotRead(context: ActivityContext, topUp: TopUp, error: unknown): Promise<void> {
  const codes = ["feature_unavailable", "setup_required"];
  const isRefusal =
    error instanceof PaymentsApiError &&
    (error.status === 403 || codes.includes(error.code)) &&
    error.code !== "token_unavailable";
  if (!isRefusal) throw error;
  return leaveAlone(context, topUp, `The balance can't be read: ${textOfError(error)}`);
}

async function leaveAlone(context: ActivityContext, topUp: TopUp, reason: string): Promise<void> {
  const clock = await context.clockOf(topUp.business).now();
  await context.store.transactionOf(topUp.businessId, (trx) =>
    backOffDeposit(trx, topUp, backOff(closedWaitMs(clock), reason), clock),
  );
}

async function oneStep(context: ActivityContext, topUp: TopUp, by: string): Promise<void> {
  if (topUp.state === "on-its-way") return followDeposit(context, topUp);
  const needed = topUp.state === "proposed" ? await readNeeded(context, topUp) : null;
  if (needed !== null && "closed" in needed) return leaveAlone(context, topUp, needed.closed);
  const { business, businessId } = topUp;
  const clocks = context.clockOf(business);
  const client = context.clientOf(business);
  const { db } = context.store;
  const reading = await readTransactions(client, db, await clocks.now(), topUp);
  const clock = await clocks.readAnew();
  const limit = leaveLimit();
  const read = { needed, reading, clock };
  const opened = await context.store.transactionOf(businessId, (trx) =>
    askToDeposit(context, trx, { topUp, by }, read),
  );
  if (opened !== null) await sendDeposit(context, opened, limit);
}

interface OpenedDeposit {
  readonly topUp: TopUp;
  readonly send: OpenedSend;
}

/** Asks the gate, and writes what follows; null if the gate lets nothing through. */
async function askToDeposit(
  context: ActivityContext,
  trx: Transaction<Tables>,
  asked: { readonly topUp: TopUp; readonly by: string },
  read: {
    readonly needed: Needed | null;
    readonly reading: Reading;
    readonly clock: ClockReading;
  },
): Promise<OpenedDeposit | null> {
  const { reading, clock } = read;
  const { businessId, business, owner, subject } = asked.topUp;
  const topUp = await stillAsked(trx, asked.topUp, read.needed, clock);
  if (topUp === null) return null;
  const facts = await subjectFacts(trx, businessId, subject);
  const debitAcceptedAt = context.profileOf(business).achAuthorization?.acceptedAt;
  const caller = { topUps: new Map([[subject, topUp]]), debitAcceptedAt };
  const answer = await askAbout(
    trx,
    { businessId, operation: deposit, sentBy: asked.by, owner, clock },
    { subject, wish: wishOf(topUp, facts, reading, clock), reading },
    (within, ...wanted) => mayDeposit(within, caller, ...wanted),
  );
  if (answer.kind === "open") {
    const change = { state: "sending", reason: null, sinceMs: clock.businessMs } as const;
    await changeTopUp(trx, topUp, ["proposed"], change, clock.realMs);
    return { topUp, send: answer.send };
  }
  await recordDeposit(trx, topUp, withoutDeposit(topUp, facts, answer, { reading, clock }), clock);
  return null;
}

/**
 * Returns the request as it stands now; null if there is nothing to do about it, or people are
 * asked.
 */
async function stillAsked(
  trx: Transaction<Tables>,
  before: TopUp,
  needed: Needed | null,
  clock: ClockReading,
): Promise<TopUp | null> {
  const open = await openTopUpsOf(trx, before.owner);
  const now = open.find(({ subject }) => subject === before.subject);
  if (now === undefined || now.state !== before.state) return null;
  if (needed === null) return now;
  const reviewed = await reviewNeeded(trx, before, needed, clock);
  if (reviewed === null || !("closed" in reviewed)) return reviewed;
  await backOffDeposit(trx, now, backOff(closedWaitMs(clock), reviewed.closed), clock);
  return null;
}

/**
 * Returns what to ask the gate for; null if nothing. A deposit that was sent is asked for again
 * only while that send may still be taken: one that was certainly not made goes back to its review
 * first.
 */
function wishOf(
  topUp: TopUp,
  facts: SubjectFacts,
  reading: Reading,
  clock: ClockReading,
): Wish | null {
  if (topUp.state === "sending") {
    const mayStill = mayStillPay({ ...facts, lookups: [...facts.lookups, reading] }, clock);
    if (!mayStill || saidNo(facts.attempts, topUp.owner) !== undefined) return null;
  }
  return depositRequest(topUp);
}

async function sendDeposit(
  context: ActivityContext,
  { topUp, send }: OpenedDeposit,
  limit: TimeLimit,
): Promise<void> {
  const { business, businessId } = topUp;
  const { judged } = await leave(context, business, deposit, send, limit);
  const clock = await context.clockOf(business).now();
  await context.store.transactionOf(businessId, async (trx) => {
    const isOpen = await recordAnswer(trx, send, judged);
    const outcome = afterDeposit(judged, send, isOpen);
    await recordDeposit(trx, topUp, outcome, clock);
  });
}
