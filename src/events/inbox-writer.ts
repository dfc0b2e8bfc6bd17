import { setImmediate } from "node:timers/promises";
import { insertEvents, type NewInboxEvent } from "../store/events/inbox.ts";
import { type Store, StoreError } from "../store/index.ts";

interface Waiting {
  readonly event: NewInboxEvent;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The most events of one write. */
const TOGETHER_MOST = 200;

/**
 * Writes webhooks that arrive during one write together with the next one, so that the disk syncs
 * them once.
 */
export class InboxWriter {
  readonly #db: Store["db"];
  readonly #waiting: Waiting[] = [];
  #isWriting = false;

  constructor({ db }: Pick<Store, "db">) {
    this.#db = db;
  }

  /** Resolves once the event is on disk; false if it was there before. */
  keep(event: NewInboxEvent): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      // SQLite writes at once, so first read what other sockets have received meanwhile.
      await setImmediate();
      const some = this.#next();
      try {
        const added = new Set(await insertEvents(this.#db, eventsOf(some)));
        for (const { event, resolve } of some) resolve(added.delete(event.eventId));
      } catch (error) {
        if (error instanceof StoreError) {
          // Nothing can be written now: those that came meanwhile need not wait as long again.
          for (const { reject } of [...some, ...this.#waiting.splice(0)]) reject(error);
        } else {
          // One event that the store refuses must not cost the others.
          for (const each of some) await this.#writeOne(each);
        }
      }
    }
    this.#isWriting = false;
  }

  /**
   * Takes the first waiting events of one business: event ids are unique within a business only.
   */
  #next(): Waiting[] {
    const businessId = this.#waiting[0]?.event.businessId;
    const end = this.#waiting.findIndex(({ event }) => event.businessId !== businessId);
    const count = end < 0 ? this.#waiting.length : end;
    return this.#waiting.splice(0, Math.min(count, TOGETHER_MOST));
  }

  async #writeOne({ event, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve((await insertEvents(this.#db, [event])).length > 0);
    } catch (error) {
      reject(error);
    }
  }
}

/** Returns each event once: the same one may wait twice. */
function eventsOf(some: readonly Waiting[]): NewInboxEvent[] {
  return [...new Map(some.map(({ event }) => [event.eventId, event])).values()];
}
