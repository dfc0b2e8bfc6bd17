import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { saysUnpaid } from "../../src/domain/payments/as-approved.ts";
import { nextBankMorningMs } from "../../src/domain/payments/poll-times.ts";
import { standOf } from "../../src/ledger/gate-judgment.ts";
import { READING_FRESH_MS } from "../../src/ledger/next.ts";
import { pay } from "../../src/ledger/operations.ts";
import {
  PAGE_SIZE_MAX,
  type PayableListItem,
  PaymentsApiError,
  type PaymentsClient,
} from "../../src/payments-api/index.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import { claimOwners } from "../../src/store/payables/claims.ts";
import { clearLooks, pollLater } from "../../src/store/lines/followed-lines.ts";
import { getRunLines } from "../../src/store/lines/lines.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { IS_UNDECIDED, undecidedToLookAt } from "../../src/store/lines/undecided-looks.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { PayJob, PayOwner } from "../pay/job.ts";
import { prepareEnded } from "../pay/judge-line.ts";
import { outcomeOfPayment } from "../pay/pay-line.ts";
import { readBill } from "../pay/read-bills.ts";
import { writeOutcome } from "../pay/record.ts";
import { runOwner } from "../pay/run-owner.ts";
import type { ActivityContext } from "../shared/context.ts";
import { OF_ALL_READS, unlessUnread } from "../shared/one-read.ts";
import { PATIENT } from "../shared/patience.ts";
import { saidByGate } from "../shared/perform.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { unlessMissing } from "../shared/unless-missing.ts";

/** Up to this many bills are read whole; of more, those that the list doesn't show as unpaid. */
const ALL_WHOLE = 25;

/** Bills that are read at the same time. */
const AT_ONCE = 10;

/** Lines of one transaction's read; their bills are read and written some at a time. */
const LINES_AT_ONCE = 100;

/**
 * Time after which a pass ends, in real time: what is left stays due, and the run's payments are
 * looked at first.
 */
const PASS_MS = 60_000;

/** Pause, in real time, between two reads of a bill that can't be read. */
const UNREAD_MS = 600_000;

/**
 * Reads the bills of lines that wait for a decision, for a hold's end or for money, after an event
 * about them and each banking morning: a bill that someone else has paid, or that may not be paid any
 * more, would wait there for ever, because lanes read only what they are about to pay.
 *
 * @returns how many lines it has ended
 */
export async function followUndecided(
  context: ActivityContext,
  run: Run,
  clock: ClockReading,
): Promise<number> {
  const { store } = context;
  const { runId, businessId } = run;
  const due = await undecidedToLookAt(store.db, runId, clock.businessMs);
  if (due.length === 0) return 0;
  const endsAt = performance.now() + PASS_MS;
  const ids = due.map(({ payableId }) => payableId);
  const client = context.clientOf(run.business);
  const listed = await readOrWait(context, run, () => listedBills(client, ids));
  if (listed === undefined) return 0;
  const owner = await runOwner(context, run, context.workerId);
  let ended = 0;
  for (let start = 0; start < due.length; start += LINES_AT_ONCE) {
    const some = due.slice(start, start + LINES_AT_ONCE);
    // An event that arrives from now on flags its line again.
    const signaled = some.filter(({ look }) => look).map(({ payableId }) => payableId);
    await store.transactionOf(businessId, (trx) => clearLooks(trx, runId, signaled, clock.realMs));
    const payableIds = some.map(({ payableId }) => payableId);
    const jobs = await getPlanLines(store.db, runId, { payableIds, where: IS_UNDECIDED });
    for (let first = 0; first < jobs.length; first += AT_ONCE) {
      if (performance.now() >= endsAt) return ended;
      const group = jobs.slice(first, first + AT_ONCE);
      const read = await readOrWait(context, run, () =>
        Promise.all(group.map((job) => readUndecided(context, owner, job, listed))),
      );
      if (read === undefined) return ended;
      ended += await store.transactionOf(businessId, (trx) => write(trx, owner, read, clock));
    }
  }
  return ended;
}

/**
 * Returns these bills as the service's list shows them; none if they are few, or if the list has
 * more pages than there are bills.
 */
async function listedBills(
  client: PaymentsClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PayableListItem>> {
  const listed = new Map<string, PayableListItem>();
  if (ids.length <= ALL_WHOLE) return listed;
  const { totalCount } = await client.payables.list({ page: 1, pageSize: 1 }, PATIENT);
  if (totalCount / PAGE_SIZE_MAX > ids.length) return listed;
  const wanted = new Set(ids);
  for await (const page of client.payables.iteratePages({}, PATIENT)) {
    for (const bill of page) if (wanted.has(bill.id)) listed.set(bill.id, bill);
  }
  return listed;
}

/** A line with what the reading of its bill says of it. */
interface ReadLine {
  readonly job: PayJob;
  /** Set if nothing of the bill is to be paid any more. */
  readonly ended?: ReturnType<typeof prepareEnded>;
  readonly isUnread?: true;
}

async function readUndecided(
  context: ActivityContext,
  owner: PayOwner,
  job: PayJob,
  listed: ReadonlyMap<string, PayableListItem>,
): Promise<ReadLine> {
  const bill = listed.get(job.plan.payableId);
  if (bill !== undefined && saysUnpaid(job.plan, bill)) return { job };
  const clock = await context.clockOf(owner.business).now();
  const read = await unlessUnread(
    context.clientOf(owner.business),
    () => unlessMissing(() => readBill(context, owner, job, clock)),
    () => undefined,
  ).catch((error: unknown) => {
    if (isOfAll(error)) throw error;
    const { payableId } = job.plan;
    context.log.warn("a bill that waits can't be read", { payableId, reason: String(error) });
    return undefined;
  });
  if (read === undefined) return { job, isUnread: true };
  // A bill or a vendor that the service doesn't find may only be inaccessible just now.
  return read === null ? { job } : { job, ended: prepareEnded(owner, job, read) };
}

/** True if a failed read says something about the business's other reads. */
function isOfAll(error: unknown): boolean {
  if (!(error instanceof PaymentsApiError)) return false;
  const { status = 500 } = error;
  return status >= 500 || OF_ALL_READS.includes(status);
}

/**
 * Ends the lines that are still as they were when their bills were read, and says when the others
 * are read again.
 *
 * @returns how many lines were ended
 */
async function write(
  trx: Transaction<Tables>,
  owner: PayOwner,
  read: readonly ReadLine[],
  clock: ClockReading,
): Promise<number> {
  const { runId, businessId } = owner;
  const ids = read.map(({ job }) => job.plan.payableId);
  const lines = new Map((await getRunLines(trx, runId, ids)).map((line) => [line.payableId, line]));
  const atMs = await databaseNowMs(trx);
  // A line that has changed meanwhile, or of which an event speaks, stays due, and so does one whose
  // bill was read long ago.
  const asRead = read.filter(({ job: { line }, ended }) => {
    const now = lines.get(line.payableId);
    const isSame = now?.state === line.state && now.lineHash === line.lineHash && !now.look;
    const isFresh = ended === undefined || atMs - ended.reading.begunAtMs < READING_FRESH_MS;
    return isSame && isFresh && now.leaseEpoch === line.leaseEpoch && now.funded === line.funded;
  });
  const morningMs = nextBankMorningMs(clock.businessMs);
  const later = asRead.map(({ job: { line }, isUnread }) => ({
    payableId: line.payableId,
    from: line.state,
    pollAtMs: isUnread ? Math.min(morningMs, clock.afterRealMs(UNREAD_MS)) : morningMs,
  }));
  await pollLater(trx, runId, later, clock.realMs);
  const owners = await claimOwners(trx, businessId, ids);
  const over = asRead.flatMap(({ ended }) =>
    ended !== undefined && owners.get(ended.plan.payableId) === owner.owner ? [ended] : [],
  );
  const asked = over.map((each) => ({ ...each, subject: each.plan.payableId }));
  const caller = { businessId, operation: pay, sentBy: owner.by, owner: owner.owner, clock };
  const steps = await standOf(trx, caller, asked);
  let count = 0;
  for (const job of over) {
    const step = steps.get(job.plan.payableId);
    if (step === undefined) continue;
    const { said, closed } = saidByGate({ kind: "step", step }, clock);
    const heard = { seen: job, sent: null, closed, isOpen: false, clock };
    const outcome = outcomeOfPayment(owner, said, heard);
    // Whatever else the ledger knows of it is the lanes' to find out.
    if (outcome !== job.otherwise) continue;
    if (await writeOutcome(trx, owner, job, outcome, clock)) count += 1;
  }
  return count;
}
