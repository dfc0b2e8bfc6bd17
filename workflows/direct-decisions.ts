import { condition, patched } from "@temporalio/workflow";
import type { DirectMail } from "../src/contracts/pay-run.ts";
import { isToldOf } from "../src/domain/rarely.ts";
import { steps } from "./activities.ts";

/** Decisions straight from Temporal that a run reads, before it only listens to the store. */
const READ_MOST = 200;

/** Runs that began before it leave out what they don't read without a word. */
const TELLS_OF_UNREAD = "tells-of-unread-decisions";

/**
 * Counts the decisions that come straight from Temporal, so that nobody can make a run's history
 * and trail grow with them. What is not read any more stands in the trail as a number: when the
 * limit is reached, at 1, 10, 100 … unread signals, and when the run ends. An update beyond it is
 * answered with the reason, and leaves nothing in the history that could be counted.
 */
export class DirectDecisions {
  readonly #runId: string;
  #read: number;
  #unread: number;
  #told: number;
  #telling = 0;

  /** @param mail what the run had counted before it continued as new */
  constructor(runId: string, mail: DirectMail | undefined) {
    this.#runId = runId;
    this.#read = mail?.read ?? 0;
    this.#unread = mail?.unread ?? 0;
    this.#told = this.#unread;
  }

  get isFull(): boolean {
    return this.#read >= READ_MOST;
  }

  /** To be carried over continue-as-new; nothing where nothing came. */
  get mail(): { readonly mail?: DirectMail } {
    return this.#read === 0 ? {} : { mail: { read: this.#read, unread: this.#unread } };
  }

  /** Counts one that is read; something to wait for where it is the last. */
  read(): Promise<void> | undefined {
    this.#read += 1;
    return this.#read === READ_MOST ? this.#tell() : undefined;
  }

  /** Counts a signal that is not read any more. */
  async leave(): Promise<void> {
    this.#unread += 1;
    if (isToldOf(this.#unread)) await this.#tell();
  }

  /** Before the run ends: tells how many came in all. */
  async close(): Promise<void> {
    if (this.#unread > this.#told) await this.#tell();
    if (this.#telling > 0) await condition(() => this.#telling === 0);
  }

  async #tell(): Promise<void> {
    if (!patched(TELLS_OF_UNREAD)) return;
    const unread = this.#unread;
    this.#told = unread;
    this.#telling += 1;
    try {
      await steps.recordUnread.executeWithOptions(
        { summary: `Leaves decisions unread: ${unread} after the first ${this.#read}` },
        [{ runId: this.#runId, read: this.#read, unread }],
      );
    } finally {
      this.#telling -= 1;
    }
  }
}
