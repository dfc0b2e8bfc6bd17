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
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import {
  changeTopUp,
  getTopUp,
  openTopUpsOf,
  type TopUp,
} from "../../src/store/deposits/deposits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { textOfError } from "../shared/error-text.ts";
import { type MoneyWrite, perform } from "../shared/perform.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { backOff } from "../shared/back-off.ts";
import type { Needed } from "./demand.ts";
import { readNeeded, reviewNeeded } from "./needed.ts";
import { followDeposit } from "./follow-deposit.ts";
import { readTransactions } from "./read-transactions.ts";
import { closedWaitMs, recordDeposit, backOffDeposit } from "./record-deposit.ts";
import { outcomeOfDeposit, type SeenBalance } from "./without-deposit.ts";

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
  await perform(context, MAKE_DEPOSIT, { topUp, by, needed });
}

/** A deposit to be made, for a worker and activity attempt. */
interface DepositJob {
  readonly topUp: TopUp;
  readonly by: string;
  readonly needed: Needed | null;
}

const MAKE_DEPOSIT: MoneyWrite<DepositJob, SeenBalance, void> = {
  operation: deposit,
  businessOf: ({ topUp }) => topUp,
  read: async (context, { topUp, needed }) => {
    const clocks = context.clockOf(topUp.business);
    const client = context.clientOf(topUp.business);
    const reading = await readTransactions(client, context.store.db, await clocks.now(), topUp);
    await clocks.readAnew();
    return { needed, reading };
  },
  ask: async (context, trx, { topUp: before, by }, { needed, reading }, clock) => {
    const { businessId, business, owner, subject } = before;
    const topUp = await stillAsked(trx, before, needed, clock);
    if (topUp === null) return undefined;
    const facts = await subjectFacts(trx, businessId, subject);
    const debitAcceptedAt = context.profileOf(business).achAuthorization?.acceptedAt;
    const caller = { topUps: new Map([[subject, topUp]]), debitAcceptedAt };
    const answer = await askAbout(
      trx,
      { businessId, operation: deposit, sentBy: by, owner, clock },
      { subject, wish: wishOf(topUp, facts, reading, clock), reading },
      (within, ...wanted) => mayDeposit(within, caller, ...wanted),
    );
    if (answer.kind === "open") {
      const change = { state: "sending", reason: null, sinceMs: clock.businessMs } as const;
      await changeTopUp(trx, topUp, ["proposed"], change, clock.realMs);
    }
    return answer;
  },
  pausesMs: [],
  record: async (trx, { topUp: { businessId, subject } }, said, heard) => {
    const topUp = await getTopUp(trx, businessId, subject);
    if (topUp === undefined) return;
    const facts = await subjectFacts(trx, businessId, subject);
    await recordDeposit(trx, topUp, outcomeOfDeposit(topUp, said, heard, facts), heard.clock);
  },
};

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
