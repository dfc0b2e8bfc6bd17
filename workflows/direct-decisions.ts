import type { DirectMail } from "../src/contracts/pay-run.ts";
import { isPowerOfTen, lastPowerOfTen } from "../src/domain/powers-of-ten.ts";
import { steps } from "./activities.ts";

/**
 * How many decisions sent to Temporal a run reads. After that it reads decisions only from the
 * store.
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
  #recorded: number;

  /** @param mail what the run had counted before it continued as new */
  constructor(runId: string, mail: DirectMail | undefined) {
    this.#runId = runId;
    this.#read = mail?.read ?? 0;
    this.#unread = mail?.unread ?? 0;
    this.#recorded = lastPowerOfTen(this.#unread);
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
    return this.#read === READ_MOST ? this.#record() : undefined;
  }

  /** Counts a signal that is not read. */
  async leave(): Promise<void> {
    this.#unread += 1;
    if (isPowerOfTen(this.#unread)) await this.#record();
  }

  /**
   * Records the final number of unread signals, before the run ends. @returns false if it was
   * recorded already
   */
  async close(): Promise<boolean> {
    const isUnrecorded = this.#unread > this.#recorded;
    if (isUnrecorded) await this.#record();
    return isUnrecorded;
  }

  async #record(): Promise<void> {
    const unread = this.#unread;
    this.#recorded = unread;
    await steps.countUnreadDecisions.executeWithOptions(
      { summary: `Leaves decisions unread: ${unread} after the first ${this.#read}` },
      [{ runId: this.#runId, read: this.#read, unread }],
    );
  }
}
