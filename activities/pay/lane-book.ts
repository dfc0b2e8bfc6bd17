import { endAttempt } from "../../src/store/attempt-writes.ts";
import { type DrawnLine, drawLines } from "../../src/store/draws.ts";
import { changeLine } from "../../src/store/lines.ts";
import { countUnread } from "../../src/store/verified-lines.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import { type GroupCommit, groupOf } from "./group-commit.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import type { LaneInput } from "./lane.ts";
import { openLines } from "./open-lines.ts";
import { recordOutcome } from "./record-outcome.ts";
import { isPlainlyPaid, type PaidJob, recordPaid } from "./record-paid.ts";
import { withResult } from "./record-send.ts";
import { READ_BY_PAGE_FROM, VERIFIED_FOR_MS } from "./verify-line.ts";

/** Lines drawn at once, by how fast they are answered; the request of each is written with it. */
const DRAW_MOST = 240;
const DRAW_LEAST = 20;

/** How long a draw should last: a hold or a stop that comes after it lets its lines pass. */
const DRAW_LASTS_MS = 1_000;

/** Paid lines that may wait to be recorded with the next draw. */
const PAID_MOST = 500;

/** Where no draw comes sooner. */
const RECORD_WITHIN_MS = 1_000;

/** How long what was found out about unread lines is good for; longer where it took long. */
const UNREAD_VALID_MS = 5_000;
const UNREAD_VALID_TIMES = 100;

/**
 * A lane's dealings with the store: paid lines are recorded in the transaction that draws the next
 * ones and writes their requests.
 *
 * What is not recorded yet when the process dies is found again by the next draw: each request
 * stands in the ledger before it leaves, under a key that it keeps.
 */
export class LaneBook {
  readonly #context: ActivityContext;
  readonly #input: LaneInput;
  readonly #group: GroupCommit;
  #paid: PaidJob[] = [];
  #blocked = false;
  #limit = DRAW_LEAST;
  #drawnAt = 0;
  #unread = { untilMs: 0, many: false };
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ActivityContext, input: LaneInput) {
    this.#context = context;
    this.#input = input;
    this.#group = groupOf(context.store, input.businessId);
  }

  get drawsAtOnce(): number {
    return this.#limit;
  }

  /** True where the last draw was kept back because the whole business waits. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /** Records what was paid and draws the next lines. */
  async turn(): Promise<PayJob[]> {
    this.#adjust();
    const clock = await this.#context.clockOf(this.#input.business).now();
    const many = await this.#manyUnread(clock.serviceMs);
    const paid = this.#take();
    try {
      return await this.#group.transaction(async (trx) => {
        await recordPaid(trx, paid, clock);
        const { lines, blockedUntilMs } = await drawLines(trx, {
          runId: this.#input.runId,
          businessId: this.#input.businessId,
          playbook: this.#input.playbook,
          limits: this.#input.policy.limits,
          owner: this.#input.by,
          limit: this.#limit,
          leaseMs: LEASE_MS,
          realMs: clock.realMs,
          serviceMs: clock.serviceMs,
          businessMs: clock.businessMs,
          ...(many ? { verifiedSinceMs: clock.serviceMs - VERIFIED_FOR_MS } : {}),
        });
        this.#blocked = blockedUntilMs !== null;
        const drawn = lines.map((line) => ({ drawn: line, job: this.#jobOf(line) }));
        return openLines(trx, drawn, clock);
      });
    } catch (error) {
      this.#paid.unshift(...paid);
      throw error;
    }
  }

  /** Keeps what was paid for the next turn, and writes down at once whatever else a line came to. */
  async record(job: PayJob, outcome: PayOutcome): Promise<void> {
    if (!isPlainlyPaid(job, outcome)) return recordOutcome(this.#context, job, outcome);
    this.#paid.push({ job, outcome });
    if (this.#paid.length >= PAID_MOST) return this.#flush();
    // Whoever waits for the last lines of a slow service should not wait for its next draw.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush().catch(() => undefined);
    }, RECORD_WITHIN_MS);
  }

  /** Records what is left, and gives back lines that nothing was sent for. */
  async close(unsent: readonly PayJob[]): Promise<void> {
    clearTimeout(this.#timer);
    await this.#flushing?.catch(() => undefined);
    await this.#flush();
    if (unsent.length === 0) return;
    await this.#context.store.transactionOf(this.#input.businessId, async (trx) => {
      const nowMs = Date.now();
      for (const { line, attempt, opened } of unsent) {
        if (opened !== undefined) {
          const { sends } = withResult(opened.attempt, { result: "not-sent" });
          const answer = "not sent: its lane ended";
          await endAttempt(trx, opened.attempt, { as: "released", sends, answer }, nowMs);
        }
        const state = attempt === undefined ? "planned" : "unknown";
        await changeLine(trx, line, { state, releaseLease: true }, nowMs, {
          epoch: line.leaseEpoch,
        });
      }
    });
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#recordAll().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #recordAll(): Promise<void> {
    const clock = await this.#context.clockOf(this.#input.business).now();
    const paid = this.#take();
    if (paid.length === 0) return;
    try {
      // Lost in a power cut, it is found again under the same keys.
      await this.#context.store.transactionOf(
        this.#input.businessId,
        (trx) => recordPaid(trx, paid, clock),
        { flush: false },
      );
    } catch (error) {
      this.#paid.unshift(...paid);
      throw error;
    }
  }

  #take(): PaidJob[] {
    const paid = this.#paid;
    this.#paid = [];
    return paid;
  }

  /** A lease must outlast the wait for a connection: of a slow service less is drawn ahead. */
  #adjust(): void {
    const now = performance.now();
    const lasts = this.#drawnAt === 0 ? 0 : DRAW_LASTS_MS / Math.max(1, now - this.#drawnAt);
    const fits = Math.min(this.#limit * 2, Math.floor(this.#limit * lasts), DRAW_MOST);
    this.#limit = Math.max(DRAW_LEAST, fits);
    this.#drawnAt = now;
  }

  /** Many lines that nobody has read lately are read by page first, not one by one from here. */
  async #manyUnread(serviceMs: number): Promise<boolean> {
    const now = performance.now();
    if (now > this.#unread.untilMs) {
      const { store } = this.#context;
      const sinceMs = serviceMs - VERIFIED_FOR_MS;
      const count = await countUnread(store.db, this.#input.runId, sinceMs, READ_BY_PAGE_FROM);
      const tookMs = performance.now() - now;
      const validMs = Math.max(UNREAD_VALID_MS, Math.min(60_000, UNREAD_VALID_TIMES * tookMs));
      this.#unread = { untilMs: now + validMs, many: count >= READ_BY_PAGE_FROM };
    }
    return this.#unread.many;
  }

  #jobOf(drawn: DrawnLine): PayJob {
    const { runId, business, businessId, playbook, policy, by, plannedAtMs } = this.#input;
    return {
      owner: runId,
      business,
      businessId,
      playbook,
      policy,
      plannedAtMs,
      line: drawn.line,
      plan: drawn.plan,
      attempt: drawn.attempt,
      maySend: drawn.maySend,
      by,
      operation: "pay",
      datesMove: false,
    };
  }
}
