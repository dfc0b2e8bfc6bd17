import type { DirectMail } from "../src/contracts/pay-run.ts";
import { isToldOf, lastToldOf } from "../src/domain/rarely.ts";
import { steps } from "./activities.ts";

/** Decisions straight from Temporal that a run reads, before it only listens to the store. */
const READ_MOST = 200;

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

  /** @param mail what the run had counted before it continued as new */
  constructor(runId: string, mail: DirectMail | undefined) {
    this.#runId = runId;
    this.#read = mail?.read ?? 0;
    this.#unread = mail?.unread ?? 0;
    this.#told = lastToldOf(this.#unread);
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

  /** Before the run ends: tells how many came in all. @returns false where that was told before */
  async close(): Promise<boolean> {
    const isUntold = this.#unread > this.#told;
    if (isUntold) await this.#tell();
    return isUntold;
  }

  async #tell(): Promise<void> {
    const unread = this.#unread;
    this.#told = unread;
    await steps.countUnreadDecisions.executeWithOptions(
      { summary: `Leaves decisions unread: ${unread} after the first ${this.#read}` },
      [{ runId: this.#runId, read: this.#read, unread }],
    );
  }
}
