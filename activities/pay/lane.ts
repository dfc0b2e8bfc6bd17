import { setTimeout as sleep } from "node:timers/promises";
import { listWaits } from "../../src/store/runs/waits.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { PayOwner } from "./job.ts";
import { LaneBook, type OpenedJob } from "./lane-book.ts";
import { payLine, type Take } from "./pay-line.ts";
import type { PaidJob } from "./record.ts";

/** Requests that a lane keeps in flight. */
const LANE_WIDTH = 20;

/**
 * Lines in hand below which the gate is asked about the next ones; higher if it is asked about more
 * at once.
 */
const ASK_BELOW = LANE_WIDTH;

/** Lines after which a lane ends, so that its run looks where it stands. */
const LANE_LINES = 10_000;

/**
 * Time after which a lane ends, well within the activity's time: with a slow service it pays fewer
 * lines.
 */
const LANE_MS = 600_000;

export interface LaneInput extends PayOwner {
  /** Aborted when the lane should lease no more; what is in flight is finished and recorded. */
  readonly stop: AbortSignal;
  readonly beat: (paid: number) => void;
}

export interface LaneResult {
  readonly leased: number;
  readonly applied: number;
  readonly unknown: number;
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** If the service asks for a longer pause than this, the lane ends and the run's workflow waits. */
const SHORT_PAUSE_MS = 30_000;

/** How often a lane checks whether a short pause of the business is over. */
const PAUSE_LOOK_MS = 200;

/**
 * Pays lines of a run, about 20 at a time, until no line may be leased any more.
 *
 * A fault of the whole business stops the leasing at once; what is in flight still gets its answer
 * and is recorded. If the service only asks to slow down, the lane waits and goes on with fewer
 * requests in flight.
 */
export async function runLane(context: ActivityContext, input: LaneInput): Promise<LaneResult> {
  const total = { leased: 0, applied: 0, unknown: 0 };
  const untilMs = performance.now() + LANE_MS;
  for (let width = LANE_WIDTH; ;) {
    const lane = new Lane(context, input, total, untilMs);
    const ends = await Promise.allSettled(Array.from({ length: width }, () => lane.work()));
    await lane.close();
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    if (lane.isOver || !lane.wasSlowedDown) return total;
    if (!(await afterShortPause(context, input))) return total;
    width = lane.wasRefused ? Math.max(2, width >> 1) : Math.min(LANE_WIDTH, width + 1);
  }
}

/**
 * Waits while the service asks for a short pause; false if the pause is longer, or the lane has to
 * stop.
 */
async function afterShortPause(context: ActivityContext, input: LaneInput): Promise<boolean> {
  while (!input.stop.aborted) {
    const { serviceMs } = await context.clockOf(input.business).now();
    const waits = (await listWaits(context.store.db, input.businessId)).filter(
      ({ sourceId }) => sourceId === "",
    );
    const isShort = waits.every(
      ({ code, retryAtMs }) =>
        code === "rate_limited" && retryAtMs - serviceMs <= SHORT_PAUSE_MS + PAUSE_LOOK_MS,
    );
    if (!isShort) return false;
    // One of the lanes that wake up now tries with one request; the others wait for its result.
    if (waits.every(({ retryAtMs }) => retryAtMs <= serviceMs)) return true;
    await sleep(PAUSE_LOOK_MS, undefined, { signal: input.stop }).catch(() => undefined);
  }
  return false;
}

class Lane {
  readonly #context: ActivityContext;
  readonly #input: LaneInput;
  readonly #book: LaneBook;
  #queue: OpenedJob[] = [];
  #turning: Promise<void> | undefined;
  /** There is nothing more to lease. */
  #empty = false;
  /** Nothing more is sent: the business waits, or something is broken. */
  #stopped = false;
  #refused = false;
  /** The sums of this whole activity. */
  readonly #total: Writable<LaneResult>;
  readonly #untilMs: number;

  constructor(
    context: ActivityContext,
    input: LaneInput,
    total: Writable<LaneResult>,
    untilMs: number,
  ) {
    this.#total = total;
    this.#untilMs = untilMs;
    this.#context = context;
    this.#input = input;
    this.#book = new LaneBook(context, input);
  }

  /** True if this activity has leased as many lines as it may, or its time is up. */
  get isOver(): boolean {
    return this.#total.leased >= LANE_LINES || performance.now() >= this.#untilMs;
  }

  /** True if the service has asked this lane to slow down. */
  get wasRefused(): boolean {
    return this.#refused;
  }

  /** True if the service has asked for a pause, here or elsewhere. */
  get wasSlowedDown(): boolean {
    return this.#refused || this.#book.isBlocked;
  }

  async work(): Promise<void> {
    for (;;) {
      const job = await this.#next();
      if (job === undefined) return;
      try {
        await this.#pay(job);
      } catch (error) {
        // The other workers finish what they have in flight before the activity fails.
        this.#stopped = true;
        throw error;
      }
    }
  }

  /** Records what is left to record; lines that were not begun go back for the next lease. */
  async close(): Promise<void> {
    // A turn that fails must not keep lines that were let through before from being given back.
    await this.#turning?.catch(() => undefined);
    const unsent = this.#queue;
    this.#queue = [];
    await this.#book.close(unsent);
  }

  async #next(): Promise<OpenedJob | undefined> {
    while (this.#queue.length === 0) {
      if (this.#leasesNoMore()) return undefined;
      await this.#turn();
    }
    if (this.#isStopped()) return undefined;
    const job = this.#queue.shift();
    // Lines are leased ahead, so that a free connection never waits for the store.
    const below = Math.max(ASK_BELOW, this.#book.asksAtOnce >> 1);
    if (this.#queue.length < below && !this.#leasesNoMore()) this.#turnAhead();
    return job;
  }

  #isStopped(): boolean {
    return this.#stopped || this.#input.stop.aborted;
  }

  #leasesNoMore(): boolean {
    return this.#empty || this.#isStopped() || this.isOver;
  }

  #turnAhead(): void {
    // A worker that finds the queue empty gets the error.
    this.#turn().catch(() => undefined);
  }

  /** Runs one transaction: records what came back, and leases what is next. */
  #turn(): Promise<void> {
    this.#turning ??= this.#book
      .turn()
      .then(({ opened, leased }) => {
        this.#queue.push(...opened);
        this.#total.leased += leased;
        if (leased === 0) this.#empty = true;
        this.#input.beat(this.#total.applied);
      })
      .finally(() => {
        this.#turning = undefined;
      });
    return this.#turning;
  }

  async #pay(opened: OpenedJob): Promise<void> {
    const { seen: job } = opened;
    const owner = this.#input;
    let kept: PaidJob | undefined;
    const take: Take = ({ payments, ids: paymentIds, found }, sent) => {
      const outcome = { kind: "applied", payments, paymentIds, found, sent } as const;
      kept = { job, outcome };
      return { outcome, isMine: true };
    };
    const { outcome } = await payLine(this.#context, { owner, job }, { opened, take });
    if (outcome.kind === "applied") this.#total.applied += 1;
    if (outcome.kind === "unknown") this.#total.unknown += 1;
    if (outcome.kind === "business-wait") {
      this.#stopped = true;
      this.#refused ||= outcome.code === "rate_limited";
    }
    if (kept !== undefined) await this.#book.keep(kept);
  }
}
