import { setImmediate } from "node:timers/promises";
import { insertEvents, type NewInboxEvent } from "../store/events/inbox.ts";
import type { Store } from "../store/index.ts";

interface Waiting {
  readonly event: NewInboxEvent;
  readonly resolve: (isNew: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** What one write takes at most. */
const TOGETHER_MOST = 200;

/** Keeps webhooks that come while one write is under way with the next one: a disk syncs them once. */
export class InboxWriter {
  readonly #db: Store["db"];
  readonly #waiting: Waiting[] = [];
  #isWriting = false;

  constructor({ db }: Pick<Store, "db">) {
    this.#db = db;
  }

  /** Comes back once the event is on disk; false where it was there before. */
  keep(event: NewInboxEvent): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      // SQLite writes at once: what other sockets have brought meanwhile is read first.
      await setImmediate();
      const some = this.#next();
      try {
        const added = new Set(await insertEvents(this.#db, eventsOf(some)));
        for (const { event, resolve } of some) resolve(added.delete(event.eventId));
      } catch {
        // One event that the store doesn't take must not cost the others.
        for (const each of some) await this.#writeOne(each);
      }
    }
    this.#isWriting = false;
  }

  /** The first that wait, of one business: ids are a business's own. */
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

/** Each once: the same event may wait twice. */
function eventsOf(some: readonly Waiting[]): NewInboxEvent[] {
  return [...new Map(some.map(({ event }) => [event.eventId, event])).values()];
}
