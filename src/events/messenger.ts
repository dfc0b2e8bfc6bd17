import { reasonOf } from "../process/repeat.ts";
import type { ActionContext } from "../actions/context.ts";
import { GatewayError } from "../actions/errors.ts";

/** Calls Temporal for one tick; once it doesn't respond, the remaining calls are not even tried. */
export class Messenger {
  readonly #context: Pick<ActionContext, "log" | "metrics">;
  #unreachable = false;

  constructor(context: Pick<ActionContext, "log" | "metrics">) {
    this.#context = context;
  }

  /** @param signal returns false if no such workflow runs */
  async send(signal: () => Promise<boolean>): Promise<"sent" | "closed" | "failed"> {
    if (this.#unreachable) return "failed";
    const { log, metrics } = this.#context;
    try {
      const outcome = (await signal()) ? "sent" : "closed";
      metrics.signals.inc({ result: outcome });
      return outcome;
    } catch (error) {
      if (error instanceof GatewayError && error.status === 503) this.#unreachable = true;
      metrics.signals.inc({ result: "failed" });
      log.warn("a workflow could not be signaled about events; trying again", {
        reason: reasonOf(error),
      });
      return "failed";
    }
  }
}
