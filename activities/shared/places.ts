import { activityInfo, cancellationSignal } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { businessOfWorkflow } from "../../src/contracts/workflow-kinds.ts";
import { counted } from "../../src/domain/counted.ts";
import {
  mayTakePlace,
  type PoolName,
  POOLS,
  WAITING_FOR_A_PLACE,
} from "../../src/domain/places.ts";
import { businessIdInRuns, phaseAlone } from "../../src/store/runs/few-columns.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { beatingLate } from "./beating.ts";
import type { ActivityContext } from "./context.ts";

/** A shorter wait is not worth saying; a longer one is said again and again, because looks don't know of it. */
const SAID_EVERY_MS = 5_000;

/** After this time, a step that found no room to wait is tried again. */
const FULL_MS = 10_000;

/** What is at work, and what waits for a place, of one pool. */
class Line {
  readonly #pool: (typeof POOLS)[PoolName];
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<{ readonly business: string; readonly enter: () => void }>();

  constructor(name: PoolName) {
    this.#pool = POOLS[name];
  }

  /** Takes a place at once, or waits for one in turn; false if the signal came first. */
  async take(business: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const isFirst = this.waitingOf(business) === 0;
    if (isFirst && mayTakePlace(this.#pool, this.#held, business)) {
      this.#hold(business);
      return true;
    }
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        resolve(false);
      };
      const enter = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      const waiting = { business, enter };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  give(business: string): void {
    const held = (this.#held.get(business) ?? 0) - 1;
    if (held > 0) this.#held.set(business, held);
    else this.#held.delete(business);
    for (const waiting of this.#waiting) {
      if (!mayTakePlace(this.#pool, this.#held, waiting.business)) continue;
      this.#waiting.delete(waiting);
      this.#hold(waiting.business);
      waiting.enter();
    }
  }

  waitingOf(business: string): number {
    return [...this.#waiting].filter((waiting) => waiting.business === business).length;
  }

  heldBy(business: string): number {
    return this.#held.get(business) ?? 0;
  }

  hasRoomFor(business: string): boolean {
    return this.waitingOf(business) < this.#pool.share * WAITING_FOR_A_PLACE;
  }

  #hold(business: string): void {
    this.#held.set(business, this.heldBy(business) + 1);
  }
}

/**
 * The places at which this process works. Each business has a share of them: its other steps wait
 * here in turn, and its runs say so. Temporal's own limit can't tell businesses apart.
 */
export class Places {
  readonly #context: Pick<ActivityContext, "store" | "draining">;
  readonly #lines = new Map<PoolName, Line>();

  constructor(context: Pick<ActivityContext, "store" | "draining">) {
    this.#context = context;
  }

  /**
   * Does a step of a workflow at a place of its business.
   *
   * @throws {ApplicationFailure} if the business has too many steps waiting, or this process stops;
   * the step is then tried again
   */
  async within<T>(pool: PoolName, work: () => Promise<T>): Promise<T> {
    const owner = activityInfo().workflowExecution?.workflowId ?? "";
    const business = businessOfWorkflow(owner) ?? owner.split("/")[1] ?? "";
    const line = this.#lines.get(pool) ?? new Line(pool);
    this.#lines.set(pool, line);
    const signal = AbortSignal.any([cancellationSignal(), this.#context.draining]);
    const why = (): string =>
      `its turn: the worker is at ${counted(line.heldBy(business), "other step")} of ${business} already, as many as one business may have at once`;
    if (!line.hasRoomFor(business)) throw notYet(why());
    const turn = line.take(business, signal);
    if (!(await sayingWhy(this.#context, owner, why, turn))) throw notYet("the worker stops");
    try {
      return await work();
    } finally {
      line.give(business);
    }
  }
}

function notYet(message: string): ApplicationFailure {
  const type = "NoPlace";
  return ApplicationFailure.create({ message, type, nextRetryDelay: FULL_MS });
}

/** Shows in a run what a step of it waits for, for as long as that lasts. */
export async function sayingWhy<T>(
  { store }: Pick<ActivityContext, "store">,
  owner: string,
  why: () => string,
  waiting: Promise<T>,
): Promise<T> {
  const say = async (): Promise<void> => {
    const businessId = await businessIdInRuns(store.db, businessOfWorkflow(owner) ?? "");
    if (businessId === undefined) return;
    await store.transactionOf(businessId, async (trx) => {
      const phase = await phaseAlone(trx, owner);
      if (phase === undefined || ENDED_PHASES.includes(phase)) return;
      await setRunPhase(trx, owner, { phase, waitingFor: why() });
    });
  };
  let saying = Promise.resolve();
  const timer = setInterval(() => {
    saying = saying.then(say).catch(() => undefined);
  }, SAID_EVERY_MS);
  try {
    return await beatingLate(() => waiting);
  } finally {
    clearInterval(timer);
    await saying;
  }
}
