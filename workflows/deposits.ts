import type { Seen } from "../src/contracts/activities.ts";
import { lanes } from "./activities.ts";
import type { Turns } from "./turns.ts";

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
    this.#turns.beside(() =>
      lanes.makeDeposits
        .executeWithOptions({ summary }, [{ owner: this.#owner, ...seen }])
        .finally(() => {
          this.#isAtWork = false;
        }),
    );
  }
}
