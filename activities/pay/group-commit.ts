import { setTimeout as sleep } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { Store } from "../../src/store/index.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { eachBusiness } from "../shared/each-business.ts";

/** Lanes lease ahead, so waiting a few milliseconds leaves no connection idle. */
const GATHER_MS = 5;

interface Waiting {
  readonly work: (trx: Transaction<Tables>) => Promise<void>;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Combines concurrent transactions of lanes that pay for one business: those that arrive while one
 * is under way go into the next. Making a commit safe against a power cut costs more than writing
 * many lines.
 */
class GroupCommit {
  readonly #store: Store;
  readonly #businessId: string;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(store: Store, businessId: string) {
    this.#store = store;
    this.#businessId = businessId;
  }

  /** As `Store.transactionOf`: all of `work` is kept, or none of it if it throws. */
  async transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    const promise = new Promise<void>((done, failed) => {
      this.#waiting.push({
        work: async (trx) => {
          result = { value: await work(trx) };
        },
        done,
        failed,
      });
    });
    void this.#run();
    await promise;
    if (result === undefined) throw new Error("the work of a group was not done");
    return result.value;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Lanes that are about to ask for a transaction get the chance to join.
      await sleep(GATHER_MS);
      const group = this.#waiting;
      this.#waiting = [];
      await this.#commit(group);
    }
    this.#running = false;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#together(group);
      for (const { done } of group) done();
    } catch (error) {
      const [first] = group;
      if (group.length === 1) return first?.failed(error);
      // One of the group is at fault, and must not make the others fail.
      for (const each of group) await this.#commit([each]);
    }
  }

  #together(group: readonly Waiting[]): Promise<void> {
    return this.#store.transactionOf(this.#businessId, async (trx) => {
      for (const { work } of group) await work(trx);
    });
  }
}

/** Returns the group of all lanes of this process that pay for a business. */
export const groupOf = eachBusiness(
  (store: Store, businessId: string) => new GroupCommit(store, businessId),
);
