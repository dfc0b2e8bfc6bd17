import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import { recordResults } from "../../src/ledger/results.ts";
import type { TimeLimit } from "../../src/payments-api/index.ts";
import { giveBack } from "../../src/store/lines/line-leases.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "../shared/context.ts";
import { leaveLimit } from "../shared/leave.ts";
import { type Opened, saidByGate } from "../shared/perform.ts";
import { askToPay } from "./ask-gate.ts";
import { groupOf } from "./group-commit.ts";
import type { PayOwner, PreparedJob } from "./job.ts";
import { LeasedLines } from "./leased-lines.ts";
import { PAY_LINE } from "./pay-line.ts";
import { type PaidJob, recordPaid } from "./record.ts";

export type OpenedJob = Opened<PreparedJob>;

/**
 * The most and the fewest lines that the gate is asked about at once; the speed of the answers
 * decides.
 */
const ASK_MOST = 240;
const ASK_LEAST = 20;

/**
 * How long lines that were let through should keep the lane busy: well within the time in which
 * they may leave.
 */
const ASK_LASTS_MS = Math.min(1_000, LEAVE_WITHIN_MS / 5);

/** Paid lines that may wait to be recorded with the next turn, and for how long. */
const PAID_MOST = 500;
const RECORD_WITHIN_MS = 1_000;

/**
 * A lane's dealings with the store. Leases lines, reads them together, and brings them before the
 * gate in the transaction that records what was paid meanwhile; the lane then sends what the gate
 * lets through.
 *
 * If the process dies, the next lease finds again what was not recorded yet: each request stands in
 * the ledger before it leaves, under a key that it keeps.
 */
export class LaneBook {
  readonly #context: ActivityContext;
  readonly #owner: PayOwner;
  readonly #lines: LeasedLines;
  #paid: PaidJob[] = [];
  #limit = ASK_LEAST;
  #askedAt = 0;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ActivityContext, owner: PayOwner) {
    this.#context = context;
    this.#owner = owner;
    this.#lines = new LeasedLines(context, owner);
  }

  get asksAtOnce(): number {
    return this.#limit;
  }

  /** True if nothing was leased because the whole business waits. */
  get isBlocked(): boolean {
    return this.#lines.isBlocked;
  }

  /**
   * Records what was paid and asks the gate about the next lines.
   *
   * @returns what may leave, and how many lines were worked on; 0 if there are no more
   */
  async turn(): Promise<{ readonly opened: OpenedJob[]; readonly leased: number }> {
    let leased = 0;
    if (this.#lines.isEmpty) leased = await this.#lines.lease();
    // While the service can't be read, nothing can be paid either: the lines go back when the lane
    // closes.
    if (this.isBlocked) return { opened: [], leased: 0 };
    this.#adjust();
    const asked = this.#lines.take(this.#limit);
    const clock = await this.#now();
    const paid = this.#takePaid();
    const limit = leaveLimit();
    try {
      const group = groupOf(this.#context.store, this.#owner.businessId);
      const opened = await group.transaction(async (trx) => {
        await recordPaid(trx, this.#owner, paid, clock);
        return this.#ask(trx, asked, clock, limit);
      });
      return { opened, leased: Math.max(leased, asked.length) };
    } catch (error) {
      this.#paid.unshift(...paid);
      this.#lines.putBack(asked);
      throw error;
    }
  }

  async #ask(
    trx: Transaction<Tables>,
    asked: readonly PreparedJob[],
    clock: ClockReading,
    limit: TimeLimit,
  ): Promise<OpenedJob[]> {
    const owner = this.#owner;
    const answers = await askToPay(this.#context, trx, owner, asked, clock);
    const opened: OpenedJob[] = [];
    for (const job of asked) {
      const answer = answers.get(job.plan.payableId);
      if (answer === undefined) throw new Error(`no answer of the gate to ${job.plan.payableId}`);
      if (answer.kind === "open") opened.push({ seen: job, send: answer.send, limit });
      else {
        const { said, closed } = saidByGate(answer, clock);
        const heard = { seen: job, sent: null, closed, isOpen: false, clock };
        await PAY_LINE.record(trx, { owner, job }, said, heard);
      }
    }
    return opened;
  }

  /** Keeps a line that was paid, to be recorded with the next turn. */
  async keep(paid: PaidJob): Promise<void> {
    this.#paid.push(paid);
    if (this.#paid.length >= PAID_MOST) return this.#flush();
    // The last lines of a slow service must not wait for its next turn before they are recorded.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush().catch(() => undefined);
    }, RECORD_WITHIN_MS);
  }

  /** Records what is left, and gives back the leases of lines that nothing was sent for. */
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
    const unasked = this.#lines.takeAll();
    if (unsent.length + unasked.length === 0) return;
    const { businessId } = this.#owner;
    await this.#context.store.transactionOf(businessId, async (trx) => {
      // Only a send's own sender writes this, and only if it can't leave any more: these stayed in
      // the lane.
      const kept = unsent.map(({ send }) => ({
        send,
        result: "not-sent" as const,
        status: null,
        code: null,
        message: "its lane ended",
        answerDateMs: null,
        madeIds: [],
      }));
      await recordResults(trx, businessId, kept);
      const lines = [...unsent.map(({ seen }) => seen), ...unasked].map(({ line }) => line);
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
      // If a power cut loses it, it is found again under the same keys.
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

  /**
   * Adjusts how many lines are asked about at once: what is let through must leave in time, so a
   * slow service gets fewer.
   */
  #adjust(): void {
    const now = performance.now();
    const lasts = this.#askedAt === 0 ? 0 : ASK_LASTS_MS / Math.max(1, now - this.#askedAt);
    const fits = Math.min(this.#limit * 2, Math.floor(this.#limit * lasts), ASK_MOST);
    this.#limit = Math.max(ASK_LEAST, fits);
    this.#askedAt = now;
  }
}
