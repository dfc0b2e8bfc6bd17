import type { LookupRow, SendRow } from "./store-facts.ts";

/**
 * The state of the ledger's rows by the rules of decision 20, computed without the engine's code,
 * as the rows stood when a gate was called. If two things happened in the same millisecond, their
 * order is unknown, and the harmless one is assumed.
 */
export class Reckoning {
  readonly #sends: readonly SendRow[];
  readonly #lookups: readonly LookupRow[];
  readonly #afterMs: number;

  constructor(sends: readonly SendRow[], lookups: readonly LookupRow[], sandbox: boolean) {
    this.#sends = sends;
    this.#lookups = lookups;
    this.#afterMs = conclusiveAfterMs(sandbox);
  }

  /** True if nothing more could come of a send by what was known at an instant (rules 5 and 6). */
  isSettled(send: SendRow, atMs: number): boolean {
    return isClosed(send, atMs) || this.isLookedUp(send, atMs);
  }

  /** True if a whole look that began late enough had been recorded by then. */
  isLookedUp({ leaveByMs }: SendRow, atMs: number): boolean {
    return this.#lookups.some(
      ({ isWhole, begunMs, recordedMs }) =>
        isWhole && recordedMs <= atMs && begunMs >= leaveByMs + this.#afterMs,
    );
  }

  /**
   * True if a conflict can't come from a request of ours that still ran: each earlier one was
   * settled when this one was let through (rule 8).
   */
  isBound(conflicted: SendRow): boolean {
    const at = this.#sends.findIndex(({ sendId }) => sendId === conflicted.sendId);
    const earlier = this.#sends.slice(0, at);
    return earlier.every((send) => this.isSettled(send, conflicted.openedMs));
  }
}

/** W and two minutes (rule 6), minus a lag: a sandbox's clock is read only now and then. */
function conclusiveAfterMs(sandbox: boolean): number {
  return sandbox ? 8 * 60_000 - 5_000 : 32 * 60_000 - 1_000;
}

/** Results that close a send: not sent, a documented refusal, or success (rules 5 and 8). */
const CLOSED: readonly string[] = ["not-sent", "refused", "rejected", "applied"];

/** True if its sender had by then a result that closes it. */
function isClosed({ result, answeredMs }: SendRow, atMs: number): boolean {
  return CLOSED.includes(result) && answeredMs !== null && answeredMs <= atMs;
}

/** True if its sender certainly had one of these results by then. */
export function heard(send: SendRow, results: readonly string[], beforeMs: number): boolean {
  return results.includes(send.result) && send.answeredMs !== null && send.answeredMs < beforeMs;
}
