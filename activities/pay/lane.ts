import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import type { ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { LaneBook } from "./lane-book.ts";
import { payLine } from "./pay-line.ts";

/** Requests a lane keeps in flight. */
export const LANE_WIDTH = 20;

/** Lines in hand below which the next ones are drawn. */
const DRAW_BELOW = LANE_WIDTH / 2;

/** Lines after which a lane ends, so that a lane's retry never repeats too much drawing. */
const LANE_LINES = 2_500;

export interface LaneInput {
  readonly runId: string;
  readonly business: string;
  readonly businessId: string;
  readonly playbook: string;
  readonly policy: PayRunPlaybook;
  readonly plannedAtMs: number;
  readonly by: string;
  /** Aborted when the lane should draw no more; what is in flight is finished and recorded. */
  readonly stop: AbortSignal;
  readonly beat: (paid: number) => void;
}

export interface LaneResult {
  readonly drawn: number;
  readonly applied: number;
  readonly unknown: number;
}

/**
 * Pays lines of a run, about 20 at a time, until no line may be drawn any more.
 *
 * A fault of the whole business stops the drawing at once; what is in flight still gets its answer
 * and is recorded.
 */
export async function runLane(context: ActivityContext, input: LaneInput): Promise<LaneResult> {
  const lane = new Lane(context, input);
  const workers = Array.from({ length: LANE_WIDTH }, () => lane.work());
  const ends = await Promise.allSettled(workers);
  await lane.close();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return lane.result;
}

class Lane {
  readonly #context: ActivityContext;
  readonly #input: LaneInput;
  readonly #book: LaneBook;
  #queue: PayJob[] = [];
  #turning: Promise<void> | undefined;
  /** Nothing more is there to draw. */
  #empty = false;
  /** Nothing more is sent: the business waits, or something is broken. */
  #stopped = false;
  #drawn = 0;
  #applied = 0;
  #unknown = 0;

  constructor(context: ActivityContext, input: LaneInput) {
    this.#context = context;
    this.#input = input;
    this.#book = new LaneBook(context, input);
  }

  get result(): LaneResult {
    return { drawn: this.#drawn, applied: this.#applied, unknown: this.#unknown };
  }

  async work(): Promise<void> {
    for (;;) {
      const job = await this.#next();
      if (job === undefined) return;
      try {
        await this.#pay(job);
      } catch (error) {
        // The others finish what they have in flight before the activity fails.
        this.#stopped = true;
        throw error;
      }
    }
  }

  /** Records what is left to record; lines that were not begun go back for whoever draws next. */
  async close(): Promise<void> {
    await this.#turning;
    const unsent = this.#queue;
    this.#queue = [];
    await this.#book.close(unsent);
  }

  async #next(): Promise<PayJob | undefined> {
    while (this.#queue.length === 0) {
      if (this.#drawsNoMore()) return undefined;
      await this.#turn();
    }
    if (this.#isStopped()) return undefined;
    const job = this.#queue.shift();
    // Drawn ahead, so that a free connection never waits for the store.
    if (this.#queue.length < DRAW_BELOW && !this.#drawsNoMore()) this.#turnAhead();
    return job;
  }

  #isStopped(): boolean {
    return this.#stopped || this.#input.stop.aborted;
  }

  #drawsNoMore(): boolean {
    return this.#empty || this.#isStopped() || this.#drawn >= LANE_LINES;
  }

  #turnAhead(): void {
    // What goes wrong is told to whoever finds the queue empty.
    this.#turn().catch(() => undefined);
  }

  /** One transaction: what came back is recorded, what is next is drawn. */
  #turn(): Promise<void> {
    this.#turning ??= this.#book
      .turn()
      .then((jobs) => {
        this.#queue.push(...jobs);
        this.#drawn += jobs.length;
        if (jobs.length === 0) this.#empty = true;
        this.#input.beat(this.#applied);
      })
      .finally(() => {
        this.#turning = undefined;
      });
    return this.#turning;
  }

  async #pay(job: PayJob): Promise<void> {
    const outcome = await payLine(this.#context, job).catch((error: unknown) =>
      outcomeOfError(this.#context, job, error),
    );
    if (outcome.kind === "applied") this.#applied += 1;
    if (outcome.kind === "unknown") this.#unknown += 1;
    if (outcome.kind === "business-wait") this.#stopped = true;
    await this.#book.record(job, outcome);
  }
}

/**
 * What a failed read or an unforeseen fault means for a line: it was not sent by this step, and an
 * attempt that was sent before stays open until it is looked up.
 */
export async function outcomeOfError(
  context: ActivityContext,
  job: PayJob,
  error: unknown,
): Promise<PayOutcome> {
  if (error instanceof PaymentsApiError) {
    const { status, retryAfterMs } = error;
    if (status === 429)
      return wait("rate_limited", "The service asked to slow down.", retryAfterMs);
    if (status === 401)
      return wait("unauthorized", "The service refuses the token (401). Renew it.");
    if (status === 403) return wait("forbidden", `The token lacks a scope (403): ${error.message}`);
    if (status === 404 && job.attempt === undefined) {
      return {
        kind: "parked",
        code: "not-found",
        reason: "The service doesn't know this bill or its vendor any more.",
      };
    }
  } else {
    context.log.warn("a line could not be paid for an unforeseen reason", {
      payableId: job.plan.payableId,
      error: error instanceof Error ? error.message : String(error),
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  const { serviceMs } = await context.clockOf(job.business).now();
  return { kind: "unknown", notBeforeMs: serviceMs + 5_000, reason };
}

function wait(code: string, message: string, retryAfterMs?: number): PayOutcome {
  return {
    kind: "business-wait",
    code,
    scope: "business",
    message,
    retryAfterMs: retryAfterMs ?? null,
  };
}
