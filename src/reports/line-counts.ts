import { runsWithEnd } from "../store/runs/runs.ts";
import type { Store } from "../store/index.ts";
import { countLinesOf, countOpenLines, type LineCount } from "../store/lines/line-counts.ts";
import { stateIs } from "../contracts/line-states.ts";

/** Runs that one statement counts, and ended runs that are counted again each time. */
const RUNS_AT_ONCE = 5;

/**
 * Counts lines of all runs by state, cheaply enough to be read every few seconds for years.
 *
 * Lines that can still move are counted each time, and so are runs that have not ended. The other
 * lines of an ended run hardly change: they are counted once and kept, and a few runs are counted
 * again each time, in turn, since a bank may take back what has settled.
 */
export class LineCounts {
  readonly #store: Pick<Store, "db">;
  /** Ended runs, the one counted longest ago first. */
  readonly #kept = new Map<string, readonly LineCount[]>();
  #reading: Promise<Map<string, number>> | undefined;

  constructor(store: Pick<Store, "db">) {
    this.#store = store;
  }

  /** @returns lines by state; concurrent callers share an answer */
  read(): Promise<Map<string, number>> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<Map<string, number>> {
    const { db } = this.#store;
    const isEnded = await runsWithEnd(db);
    for (const runId of this.#kept.keys()) {
      if (isEnded.get(runId) !== true) this.#kept.delete(runId);
    }
    const again = [...this.#kept.keys()].slice(0, RUNS_AT_ONCE);
    const unknown = [...isEnded.keys()].filter((runId) => !this.#kept.has(runId));
    const atWork: LineCount[] = [];
    const toCount = [...again, ...unknown];
    for (let start = 0; start < toCount.length; start += RUNS_AT_ONCE) {
      const some = toCount.slice(start, start + RUNS_AT_ONCE);
      const found = Map.groupBy(await countLinesOf(db, some), ({ runId }) => runId);
      for (const runId of some) {
        const counts = (found.get(runId) ?? []).filter(isRest);
        if (isEnded.get(runId) === true) this.#keep(runId, counts);
        else atWork.push(...counts);
      }
    }
    const open = await countOpenLines(db);
    return summed([...open, ...atWork, ...[...this.#kept.values()].flat()]);
  }

  /** Stores a run's counts as the latest counted. */
  #keep(runId: string, counts: readonly LineCount[]): void {
    this.#kept.delete(runId);
    this.#kept.set(runId, counts);
  }
}

function isRest({ state }: LineCount): boolean {
  return state !== "parked" && !stateIs("underWay", state);
}

function summed(counts: readonly LineCount[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { state, count } of counts) sums.set(state, (sums.get(state) ?? 0) + count);
  return sums;
}
