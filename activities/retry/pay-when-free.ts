import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { asksForWord } from "../../src/domain/approvals/changed-records.ts";
import { withFullStop } from "../../src/domain/history-texts.ts";
import { onHoldText } from "../../src/domain/holds.ts";
import { nextBankMorningMs } from "../../src/domain/payments/poll-times.ts";
import { soonestSleepMs, untilNextMs } from "../../src/domain/sleeps.ts";
import { getRunLine } from "../../src/store/lines/lines.ts";
import { activeHoldsFor, type Hold } from "../../src/store/holds/holds.ts";
import { type BusinessWait, listWaits } from "../../src/store/runs/waits.ts";
import { notifyOfWaits } from "../notify/run.ts";
import { assessment } from "./answers.ts";
import { changesInMs, notBeforeMs, type RetryCase, setLine } from "./retry-case.ts";

/** Reason code of a bill that is to be paid again and is on hold. */
const ON_HOLD = "on_hold" satisfies LineReason;

/**
 * The cause for taking a bill to the gate whose request may still pay: even while it is on hold, to
 * learn what came of the request. The gate itself sends nothing while there is a hold.
 */
export const UNANSWERED = "a request that may still pay";

const WORD = "waits for a word whether the vendor's account is still right";

/**
 * Pays as soon as no hold, no question about the vendor's record, no wait of the service and no
 * back-off forbids it. Who answers the question signals the retry.
 */
export async function payWhenFree(retry: RetryCase, because: string): Promise<RetryAssessment> {
  const { clock } = retry;
  const [hold, ...others] = await holdsNow(retry);
  const isSent = because === UNANSWERED;
  if (hold !== undefined && !isSent) {
    await noteHold(retry, hold, others.length);
    return assessment(retry, "waiting", "on hold", await readAgainInMs(retry));
  }
  if (asksForWord(retry.line) && !isSent) {
    return assessment(retry, "waiting", WORD, await readAgainInMs(retry));
  }
  const { waits, noticeInMs } = await ownWaits(retry);
  const pauses = waits.filter(({ retryAtMs }) => retryAtMs > clock.serviceMs);
  const waitUntilMs = Math.max(await notBeforeMs(retry), ...pauses.map((wait) => wait.retryAtMs));
  const waitMs = waitUntilMs - retry.clock.serviceMs;
  if (waitMs <= 0) return assessment(retry, "pay", `pays now: ${because}`, 0);
  const text = pauses[0]?.message ?? "backing off before the next lookup";
  return assessment(retry, "waiting", text, soonestSleepMs(waitMs, noticeInMs));
}

/**
 * Returns real milliseconds until a bill that waits for a person is read again without an event:
 * someone else may have paid it.
 */
async function readAgainInMs(retry: RetryCase): Promise<number> {
  const morningMs = nextBankMorningMs(retry.clock.businessMs);
  return soonestSleepMs(untilNextMs([morningMs], retry.clock), await changesInMs(retry));
}

async function noteHold(retry: RetryCase, hold: Hold, others: number): Promise<void> {
  const reason = onHoldText(hold, others);
  // The judgment itself may have announced another day.
  const line = await getRunLine(retry.context.store.db, retry.run.runId, retry.payableId);
  if (line?.reason !== reason) await setLine(retry, { reasonCode: ON_HOLD, reason });
}

function holdsNow({ context, businessId, run, line, clock }: RetryCase): Promise<Hold[]> {
  const { playbook } = run;
  const of = { ...line, businessId, playbook, businessNowMs: clock.businessMs };
  return activeHoldsFor(context.store.db, of);
}

/**
 * Once no hold applies to a bill any more, restores the reason why it failed; otherwise names the
 * other hold that does.
 */
export async function noteRelease(retry: RetryCase): Promise<void> {
  if (retry.line.reasonCode !== ON_HOLD) return;
  const [hold, ...others] = await holdsNow(retry);
  if (hold !== undefined) return noteHold(retry, hold, others.length);
  const { reasonCode, reason, retryOn } = retry.row;
  const again = retryOn === null ? "" : ` Tried again on ${retryOn}.`;
  await setLine(retry, { reasonCode, reason: `${withFullStop(reason ?? "It failed")}${again}` });
}

/**
 * Returns the faults that the payment waits for. Notifies operators of them, because its run may
 * have ended.
 */
async function ownWaits({
  context,
  businessId,
  workflowId: runId,
  line,
  clock,
}: RetryCase): Promise<{ readonly waits: readonly BusinessWait[]; readonly noticeInMs: number }> {
  const waits = (await listWaits(context.store.db, businessId)).filter(
    ({ sourceId }) => sourceId === "" || sourceId === line.sourceId,
  );
  if (waits.length === 0) return { waits, noticeInMs: Infinity };
  const noticeInMs = await context.store.transactionOf(businessId, (trx) =>
    notifyOfWaits(trx, { run: { runId, businessId }, waits, clock }),
  );
  return { waits, noticeInMs };
}
