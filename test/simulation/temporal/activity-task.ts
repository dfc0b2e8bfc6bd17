import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import type { ProcessNode, World } from "../world/world.ts";
import { asActivity } from "./activity-stand-in.ts";
import { durationMs } from "./duration.ts";
import type { ActivityOptions, Execution, Job } from "./execution.ts";

export type Activities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/** What a task needs from its server. */
export interface TaskServer {
  readonly world: World;
  readonly isUp: boolean;
  workerFor(): { readonly node: ProcessNode; readonly activities: Activities } | undefined;
  deliver(execution: Execution, job: Job): void;
}

/** Milliseconds until a worker is looked for again if none could take the task. */
const AGAIN_MS = 1_000;

/** One activity that a workflow has scheduled, with all its attempts. */
export class ActivityTask {
  readonly #server: TaskServer;
  readonly #of: Execution;
  readonly #number: number;
  readonly #type: string;
  readonly #input: readonly unknown[];
  readonly #options: ActivityOptions;
  readonly #askedMs: number;
  #attempts = 0;
  /** The attempt that counts; undefined while the next one is pending. */
  #current: number | undefined;
  #beatMs = 0;
  #isOver = false;

  constructor(
    server: TaskServer,
    of: Execution,
    asked: {
      readonly number: number;
      readonly type: string;
      readonly input: readonly unknown[];
      readonly options: ActivityOptions;
    },
  ) {
    this.#server = server;
    this.#of = of;
    this.#number = asked.number;
    this.#type = asked.type;
    this.#input = asked.input;
    this.#options = asked.options;
    this.#askedMs = server.world.nowMs;
  }

  /** Begins the next attempt, on any worker. */
  begin(): void {
    if (this.#isOver || this.#of.state !== "running") return;
    const { world } = this.#server;
    const worker = this.#server.workerFor();
    if (worker === undefined) {
      world.later(AGAIN_MS, "no worker", () => this.begin());
      return;
    }
    this.#attempts += 1;
    this.#beatMs = world.nowMs;
    const attempt = this.#attempts;
    this.#current = attempt;
    world.later(this.#options.startToCloseMs, "start to close", () => this.#timeOut(attempt));
    this.#watchBeats(attempt);
    world.in(worker.node, () => void this.#run(worker.node, worker.activities, attempt));
  }

  async #run(node: ProcessNode, activities: Activities, attempt: number): Promise<void> {
    const { world } = this.#server;
    const stopped = new AbortController();
    const heartbeat = (): void => {
      world.later(5, "heartbeat", () => {
        if (!this.#server.isUp || !node.alive) return;
        if (this.#isStale(attempt)) stopped.abort();
        else this.#beatMs = world.nowMs;
      });
    };
    await world.boundary(`begin ${this.#type}`);
    const activity = activities[this.#type];
    if (activity === undefined) throw new Error(`there is no activity ${this.#type}`);
    const { workflowId } = this.#of;
    const info = {
      ...{ activityId: String(this.#number), activityType: this.#type, attempt },
      ...{ scheduledTimestampMs: this.#askedMs, workflowExecution: { workflowId } },
    };
    const running = { info, cancellationSignal: stopped.signal, heartbeat };
    const [input] = this.#input;
    const done = await asActivity(running, () => activity(input as never)).then(
      (result) => ({ result, failure: undefined }),
      (error: unknown) => ({ result: undefined, failure: failureOf(error) }),
    );
    await world.boundary(`end ${this.#type}`);
    while (!this.#server.isUp) await new Promise<void>((go) => world.after(AGAIN_MS, "away", go));
    this.#end(attempt, done);
  }

  #isStale(attempt: number): boolean {
    return this.#isOver || this.#of.state !== "running" || attempt !== this.#current;
  }

  #watchBeats(attempt: number): void {
    const { heartbeatMs } = this.#options;
    if (heartbeatMs === undefined) return;
    const { world } = this.#server;
    const look = (): void => {
      if (this.#isStale(attempt)) return;
      const atMs = this.#beatMs + heartbeatMs;
      if (world.nowMs >= atMs) this.#timeOut(attempt);
      else world.later(atMs - world.nowMs, "heartbeat due", look);
    };
    world.later(heartbeatMs, "heartbeat due", look);
  }

  #timeOut(attempt: number): void {
    if (this.#isStale(attempt)) return;
    this.#server.world.tell("temporal", `${this.#type} (attempt ${attempt}) timed out`);
    this.#again(attempt, ApplicationFailure.create({ message: "timed out", type: "Timeout" }));
  }

  #end(
    attempt: number,
    { result, failure }: { readonly result: unknown; readonly failure: Error | undefined },
  ): void {
    if (this.#isStale(attempt)) return;
    if (failure !== undefined) {
      this.#again(attempt, failure);
      return;
    }
    const plain: unknown = result === undefined ? undefined : JSON.parse(JSON.stringify(result));
    this.#tell(plain, undefined);
  }

  #again(attempt: number, failure: Error): void {
    const { initialMs, maximumMs, attempts } = this.#options;
    const isFinal = failure instanceof ApplicationFailure && failure.nonRetryable === true;
    if (isFinal || attempt >= attempts) {
      const state = isFinal ? "NON_RETRYABLE_FAILURE" : "MAXIMUM_ATTEMPTS_REACHED";
      const { workflowId } = this.#of;
      const id = String(this.#number);
      this.#tell(
        undefined,
        new ActivityFailure("Activity task failed", this.#type, id, state, workflowId, failure),
      );
      return;
    }
    const asked = failure instanceof ApplicationFailure ? failure.nextRetryDelay : undefined;
    const backOffMs = Math.min(maximumMs, initialMs * 2 ** (attempt - 1));
    const pauseMs = asked === undefined || asked === null ? backOffMs : durationMs(asked);
    // A worker that still works on this attempt learns of it at its next heartbeat.
    this.#current = undefined;
    this.#server.world.later(pauseMs, "next attempt", () => this.begin());
  }

  #tell(result: unknown, failure: Error | undefined): void {
    this.#isOver = true;
    this.#server.deliver(this.#of, {
      kind: "activity",
      atMs: 0,
      number: this.#number,
      result,
      failure,
    });
  }
}

function failureOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
