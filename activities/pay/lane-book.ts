import type { ClockReading } from "../../src/business/clock.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import { recordResults } from "../../src/ledger/results.ts";
import type { TimeLimit } from "../../src/payments-api/index.ts";
import { giveBack, leaseLines } from "../../src/store/line-leases.ts";
import { openSubjects } from "../../src/store/open-subjects.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import { askToPay, withoutSend } from "./ask-gate.ts";
import { outcomeOfError } from "./error-outcome.ts";
import { type GroupCommit, groupOf } from "./group-commit.ts";
import type { PayJob, PayOutcome, PayOwner, PreparedJob } from "./job.ts";
import { prepareLine, prepareListed } from "./judge-line.ts";
import { leaveLimit } from "./leave.ts";
import type { OpenedJob } from "./pay-one.ts";
import { readBill, readByPage } from "./read-bills.ts";
import { type PaidJob, recordOutcome, recordPaid, writeOutcome } from "./record.ts";

/** Lines that the gate is asked about at once, by how fast they are answered. */
const ASK_MOST = 240;
const ASK_LEAST = 20;

/** How long what the gate let through should last: well within the time in which it may leave. */
const ASK_LASTS_MS = Math.min(1_000, LEAVE_WITHIN_MS / 5);

/** Lines that are leased and read together: as many as are read well before a read is too old. */
const LEASE_FIRST = 80;
const LEASE_LEAST = 20;
const LEASE_MOST = 960;
const READ_LASTS_MS = 20_000;

/** Bills that a lane reads by themselves at the same time. */
const SINGLY_AT_ONCE = 10;

/** Paid lines that may wait to be recorded with the next turn, and how long. */
const PAID_MOST = 500;
const RECORD_WITHIN_MS = 1_000;

/**
 * A lane's dealings with the store. Lines are leased, read together, and brought before the gate in
 * the transaction that records what was paid meanwhile; what the gate lets through is to leave.
 *
 * What is not recorded yet when the process dies is found again by the next draw: each request
 * stands in the ledger before it leaves, under a key that it keeps.
 */
export class LaneBook {
  readonly #context: ActivityContext;
  readonly #owner: PayOwner;
  readonly #group: GroupCommit;
  #paid: PaidJob[] = [];
  /** Leased and read, for the gate. */
  #ready: PreparedJob[] = [];
  /** Leased, and not read because the service can't be read now. */
  #unread: PayJob[] = [];
  #blocked = false;
  #limit = ASK_LEAST;
  #leases = LEASE_FIRST;
  #askedAt = 0;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ActivityContext, owner: PayOwner) {
    this.#context = context;
    this.#owner = owner;
    this.#group = groupOf(context.store, owner.businessId);
  }

  get asksAtOnce(): number {
    return this.#limit;
  }

  /** True where nothing was leased because the whole business waits. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /**
   * Records what was paid and asks the gate about the next lines.
   *
   * @returns what may leave, and how many lines were worked on; none where there are no more
   */
  async turn(): Promise<{ readonly opened: OpenedJob[]; readonly drawn: number }> {
    let drawn = 0;
    if (this.#ready.length === 0) drawn = await this.#leaseAndRead();
    // What can't be read now can't be paid either: what was drawn goes back when the lane closes.
    if (this.#blocked) return { opened: [], drawn: 0 };
    this.#adjust();
    const asked = this.#ready.splice(0, this.#limit);
    const clock = await this.#now();
    const paid = this.#takePaid();
    const limit = leaveLimit();
    try {
      const opened = await this.#group.transaction((trx) =>
        this.#ask(trx, { asked, paid, clock, limit }),
      );
      return { opened, drawn: Math.max(drawn, asked.length) };
    } catch (error) {
      this.#paid.unshift(...paid);
      this.#ready.unshift(...asked);
      throw error;
    }
  }

  async #ask(
    trx: Parameters<typeof recordPaid>[0],
    turn: {
      readonly asked: readonly PreparedJob[];
      readonly paid: readonly PaidJob[];
      readonly clock: ClockReading;
      readonly limit: TimeLimit;
    },
  ): Promise<OpenedJob[]> {
    const { asked, clock, limit } = turn;
    await recordPaid(trx, this.#owner, turn.paid, clock);
    const answers = await askToPay(this.#context, trx, this.#owner, asked, clock);
    const opened: OpenedJob[] = [];
    for (const job of asked) {
      const answer = answers.get(job.plan.payableId);
      if (answer === undefined) throw new Error(`no answer of the gate to ${job.plan.payableId}`);
      if (answer.kind === "open") opened.push({ job, send: answer.send, limit });
      else await writeOutcome(trx, this.#owner, job, withoutSend(job, answer), clock);
    }
    return opened;
  }

  /** Leases the next lines and reads their bills; returns how many. */
  async #leaseAndRead(): Promise<number> {
    const { runId, businessId, by } = this.#owner;
    const clock = await this.#now();
    const { lines, blockedUntilMs } = await this.#group.transaction((trx) =>
      leaseLines(trx, {
        ...{ runId, businessId, by, leaseMs: LEASE_MS, serviceMs: clock.serviceMs },
        limit: this.#leases,
      }),
    );
    this.#blocked = blockedUntilMs !== null;
    if (lines.length === 0) return 0;
    const begun = performance.now();
    await this.#read(lines);
    const tookMs = Math.max(1, performance.now() - begun);
    const fits = Math.floor((lines.length * READ_LASTS_MS) / tookMs);
    this.#leases = Math.min(LEASE_MOST, Math.max(LEASE_LEAST, fits));
    return lines.length;
  }

  async #read(jobs: readonly PayJob[]): Promise<void> {
    const { db } = this.#context.store;
    const ids = jobs.map(({ plan }) => plan.payableId);
    // Of what is open each look counts, so it is read by itself and at its own time.
    const open = await openSubjects(db, this.#owner.businessId, ids);
    const calm = jobs.filter(({ plan }) => !open.has(plan.payableId));
    const listed = await readByPage(this.#context, this.#owner, calm, await this.#now());
    const singly: PayJob[] = [];
    for (const job of jobs) {
      const read = open.has(job.plan.payableId) ? undefined : listed.get(job.plan.payableId);
      const clock = await this.#now();
      const prepared = read && prepareListed(this.#owner, job, read, clock);
      if (prepared === undefined) singly.push(job);
      else this.#ready.push(prepared);
    }
    const work = async (): Promise<void> => {
      while (!this.#blocked) {
        const job = singly.shift();
        if (job === undefined) return;
        await this.#readSingly(job);
      }
    };
    await Promise.all(Array.from({ length: SINGLY_AT_ONCE }, work));
    this.#unread.push(...singly);
  }

  async #readSingly(job: PayJob): Promise<void> {
    try {
      const read = await readBill(this.#context, this.#owner, job, await this.#now());
      this.#ready.push(prepareLine(this.#owner, job, read, await this.#now()));
    } catch (error) {
      const outcome = await outcomeOfError(this.#context, this.#owner, job, error);
      if (outcome.kind === "business-wait") this.#blocked = true;
      await recordOutcome(this.#context, this.#owner, job, outcome);
    }
  }

  /** Keeps what was paid for the next turn, and writes down at once whatever else a line came to. */
  async record(job: PayJob, outcome: PayOutcome): Promise<void> {
    if (outcome.kind !== "applied" || outcome.sent === null) {
      return recordOutcome(this.#context, this.#owner, job, outcome);
    }
    this.#paid.push({ job, outcome });
    if (this.#paid.length >= PAID_MOST) return this.#flush();
    // Whoever waits for the last lines of a slow service should not wait for its next turn.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush().catch(() => undefined);
    }, RECORD_WITHIN_MS);
  }

  /** Records what is left, and gives back lines that nothing was sent for. */
  async close(unsent: readonly OpenedJob[]): Promise<void> {
    clearTimeout(this.#timer);
    await this.#flushing?.catch(() => undefined);
    try {
      await this.#flush();
    } finally {
      await this.#giveBack(unsent);
    }
  }

  async #giveBack(unsent: readonly OpenedJob[]): Promise<void> {
    const unasked = [...this.#ready.splice(0), ...this.#unread.splice(0)];
    if (unsent.length + unasked.length === 0) return;
    const { businessId } = this.#owner;
    await this.#context.store.transactionOf(businessId, async (trx) => {
      // Only its sender writes it, and only of what can't leave any more: these never were given out.
      const kept = unsent.map(({ send }) => ({
        ...{ send, result: "not-sent" as const, status: null, code: null },
        ...{ message: "its lane ended", answerDateMs: null, madeIds: [] },
      }));
      await recordResults(trx, businessId, kept);
      const lines = [...unsent.map(({ job }) => job), ...unasked].map(({ line }) => line);
      await giveBack(trx, lines, Date.now());
    });
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#recordAll().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #recordAll(): Promise<void> {
    const clock = await this.#now();
    const paid = this.#takePaid();
    if (paid.length === 0) return;
    try {
      // Lost in a power cut, it is found again under the same keys.
      await this.#context.store.transactionOf(
        this.#owner.businessId,
        (trx) => recordPaid(trx, this.#owner, paid, clock),
        { flush: false },
      );
    } catch (error) {
      this.#paid.unshift(...paid);
      throw error;
    }
  }

  #takePaid(): PaidJob[] {
    const paid = this.#paid;
    this.#paid = [];
    return paid;
  }

  #now(): Promise<ClockReading> {
    return this.#context.clockOf(this.#owner.business).now();
  }

  /** What was let through must leave in time: of a slow service less is asked about at once. */
  #adjust(): void {
    const now = performance.now();
    const lasts = this.#askedAt === 0 ? 0 : ASK_LASTS_MS / Math.max(1, now - this.#askedAt);
    const fits = Math.min(this.#limit * 2, Math.floor(this.#limit * lasts), ASK_MOST);
    this.#limit = Math.max(ASK_LEAST, fits);
    this.#askedAt = now;
  }
}
