import { isCancellation } from "@temporalio/workflow";
import type { Seen } from "../src/contracts/activities.ts";
import { lanes, steps } from "./activities.ts";
import { rootMessage } from "./root-message.ts";
import type { Turns } from "./turns.ts";

/**
 * Runs `work` beside a workflow's turns and notifies operators if it fails: a failure must not look
 * like "nothing to do".
 */
export function beside(
  turns: Turns,
  owner: string,
  step: string,
  work: () => Promise<unknown>,
): void {
  turns.beside(async () => {
    try {
      await work();
    } catch (error) {
      if (isCancellation(error)) return;
      const reason = rootMessage(error, "it failed without a reason");
      await steps.notifyOperators.executeWithOptions(
        { summary: `Notifies operators: ${step} has failed` },
        [{ owner, step, reason }],
      );
    }
  });
}

/** Makes and follows a workflow's deposits beside its turns, one activity at a time. */
export class Deposits {
  readonly #turns: Turns;
  readonly #owner: string;
  #isAtWork = false;

  constructor(turns: Turns, owner: string) {
    this.#turns = turns;
    this.#owner = owner;
  }

  /** Starts the activity, unless it is running already. */
  start(seen: Seen = {}): void {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    const summary = "Makes and follows deposits into the balance";
    beside(this.#turns, this.#owner, "makeDeposits", () =>
      lanes.makeDeposits
        .executeWithOptions({ summary }, [{ owner: this.#owner, ...seen }])
        .finally(() => {
          this.#isAtWork = false;
        }),
    );
  }
}
