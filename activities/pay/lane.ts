import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { drawLines, type DrawnLine } from "../../src/store/draws.ts";
import { changeLine } from "../../src/store/lines.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { payLine } from "./pay-line.ts";
import { recordOutcome } from "./record-outcome.ts";

/** Requests a lane keeps in flight. */
const LANE_WIDTH = 20;

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
  await lane.giveBack();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return lane.result;
}

class Lane {
  readonly #context: ActivityContext;
  readonly #input: LaneInput;
  #queue: DrawnLine[] = [];
  #drawing: Promise<void> | undefined;
  #dry = false;
  #drawn = 0;
  #applied = 0;
  #unknown = 0;

  constructor(context: ActivityContext, input: LaneInput) {
    this.#context = context;
    this.#input = input;
  }

  get result(): LaneResult {
    return { drawn: this.#drawn, applied: this.#applied, unknown: this.#unknown };
  }

  async work(): Promise<void> {
    for (;;) {
      const drawn = await this.#next();
      if (drawn === undefined) return;
      try {
        await this.#pay(drawn);
      } catch (error) {
        // The others finish what they have in flight before the activity fails.
        this.#dry = true;
        throw error;
      }
      this.#input.beat(this.#applied);
    }
  }

  /** Lines that were leased and not begun go back for whoever draws next. */
  async giveBack(): Promise<void> {
    for (const { line, attempt } of this.#queue) {
      const state = attempt === undefined ? "planned" : "unknown";
      await changeLine(this.#context.store.db, line, { state, releaseLease: true }, Date.now(), {
        epoch: line.leaseEpoch,
      });
    }
    this.#queue = [];
  }

  async #next(): Promise<DrawnLine | undefined> {
    while (this.#queue.length === 0) {
      if (this.#dry || this.#input.stop.aborted || this.#drawn >= LANE_LINES) return undefined;
      this.#drawing ??= this.#draw().finally(() => {
        this.#drawing = undefined;
      });
      await this.#drawing;
    }
    return this.#input.stop.aborted ? undefined : this.#queue.shift();
  }

  async #draw(): Promise<void> {
    const clock = await this.#context.clockOf(this.#input.business).now();
    const draw = await this.#context.store.transactionOf(this.#input.businessId, (trx) =>
      drawLines(trx, {
        runId: this.#input.runId,
        businessId: this.#input.businessId,
        playbook: this.#input.playbook,
        limits: this.#input.policy.limits,
        owner: this.#input.by,
        limit: LANE_WIDTH,
        leaseMs: LEASE_MS,
        realMs: clock.realMs,
        serviceMs: clock.serviceMs,
        businessMs: clock.businessMs,
      }),
    );
    this.#queue.push(...draw.lines);
    this.#drawn += draw.lines.length;
    if (draw.lines.length === 0) this.#dry = true;
  }

  async #pay(drawn: DrawnLine): Promise<void> {
    const job = this.#jobOf(drawn);
    const outcome = await payLine(this.#context, job).catch((error: unknown) =>
      this.#afterError(job, error),
    );
    if (outcome.kind === "applied") this.#applied += 1;
    if (outcome.kind === "unknown") this.#unknown += 1;
    if (outcome.kind === "business-wait") this.#dry = true;
    await recordOutcome(this.#context, job, outcome);
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

  async #afterError(job: PayJob, error: unknown): Promise<PayOutcome> {
    return outcomeOfError(this.#context, job, error);
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
