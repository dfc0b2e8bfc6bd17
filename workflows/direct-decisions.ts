import type { DirectMail } from "../src/contracts/pay-run.ts";
import { isToldOf, lastToldOf } from "../src/domain/rarely.ts";
import { steps } from "./activities.ts";

/**
 * How many decisions sent to Temporal a run reads. After that it takes decisions from the store
 * only.
 */
const READ_MOST = 200;

/**
 * Counts the decisions that systems send straight to Temporal, so that a sender can't grow a run's
 * history and audit trail without limit.
 *
 * Signals beyond the limit are not read. The trail records their number when the limit is reached,
 * at 1, 10, 100 … unread signals, and when the run ends. Updates beyond the limit are rejected with
 * the reason and leave nothing in the history.
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

  /** For continue-as-new; empty if no decisions came. */
  get mail(): { readonly mail?: DirectMail } {
    return this.#read === 0 ? {} : { mail: { read: this.#read, unread: this.#unread } };
  }

  /**
   * Counts a decision that is read. @returns a promise to wait for if it was the last one that is
   * read
   */
  read(): Promise<void> | undefined {
    this.#read += 1;
    return this.#read === READ_MOST ? this.#tell() : undefined;
  }

  /** Counts a signal that is not read. */
  async leave(): Promise<void> {
    this.#unread += 1;
    if (isToldOf(this.#unread)) await this.#tell();
  }

  /**
   * Records the final number of unread signals, before the run ends. @returns false if it was
   * recorded already
   */
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
