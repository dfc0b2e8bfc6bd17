import { queueUnserved } from "../domain/facts/businesses.ts";
import { record } from "../store/facts/record.ts";
import { temporalAnswers } from "../actions/temporal.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { type ServedQueue, unservedQueues } from "../temporal/unserved-queues.ts";
import type { GatewayContext } from "./http/context.ts";
import { dateOfUtcMs } from "../domain/clock/dates.ts";

const LOOK_EVERY_MS = 60_000;

/** How soon Temporal is asked again after it hasn't answered, and how long an answer may take. */
const ASK_AGAIN_EVERY_MS = 15_000;
const ANSWERS_WITHIN_MS = 5_000;
const LOOKS_WITHIN_MS = 30_000;

/** The time without a worker after which operators are notified: a worker's restart is no news. */
const TOLD_AFTER_MS = 120_000;

type Watching = Pick<GatewayContext, "store" | "profiles" | "temporal" | "log" | "nowMs">;

/**
 * Notifies operators of task queues that no worker polls: work there waits silently, and an absent
 * worker can't report itself. Notes when Temporal stopped answering.
 */
export function startQueueWatch(
  context: Watching & Pick<GatewayContext, "temporalSilence">,
): Repeated {
  const { temporal, temporalSilence, nowMs } = context;
  const watch = new QueueWatch(context);
  return repeat(
    async () => {
      if (!(await temporalAnswers(temporal, ANSWERS_WITHIN_MS))) {
        temporalSilence.sinceMs ??= nowMs();
        return ASK_AGAIN_EVERY_MS;
      }
      temporalSilence.sinceMs = undefined;
      await watch.look();
      return LOOK_EVERY_MS;
    },
    (error) => {
      context.log.info("task queues could not be looked at", { reason: reasonOf(error) });
      return LOOK_EVERY_MS;
    },
  );
}

/** Tracks which queues have no worker, and since when. */
export class QueueWatch {
  readonly #context: Watching;
  readonly #sinceMs = new Map<string, number>();

  constructor(context: Watching) {
    this.#context = context;
  }

  async look(): Promise<void> {
    const { temporal, nowMs } = this.#context;
    const { workflowService } = temporal.connection;
    // A server occasionally drops a call: the deadline makes sure that the next look takes place.
    const unserved = await temporal.withDeadline(Date.now() + LOOKS_WITHIN_MS, () =>
      unservedQueues(workflowService, temporal.options.namespace, nowMs()),
    );
    for (const name of this.#sinceMs.keys()) {
      if (!unserved.some(({ taskQueue }) => taskQueue === name)) this.#sinceMs.delete(name);
    }
    for (const queue of unserved) {
      const sinceMs = this.#sinceMs.get(queue.taskQueue) ?? nowMs();
      this.#sinceMs.set(queue.taskQueue, sinceMs);
      if (nowMs() - sinceMs >= TOLD_AFTER_MS) await this.#notify(queue);
    }
  }

  async #notify({ serve, taskQueue, stands }: ServedQueue): Promise<void> {
    const { store, profiles, log, nowMs } = this.#context;
    const day = dateOfUtcMs(nowMs());
    for (const { businessId } of profiles.all()) {
      const unserved = queueUnserved(
        { businessId, nowMs: nowMs() },
        { serve, taskQueue, stands, day },
      );
      const isNews = await store.transactionOf(businessId, (trx) => record(trx, unserved));
      if (isNews) log.warn("no worker works on a task queue", { taskQueue, businessId });
    }
  }
}
