import type { LookRow, SendRow } from "./store-facts.ts";

/**
 * What the ledger's rows say, reckoned by the rules of decision 20 and not by the engine's code: by
 * the rows as they stood when a gate was asked. Where two things happened in the same millisecond
 * nobody knows their order, so that whoever accuses takes the harmless one.
 */
export class Reckoning {
  readonly #sends: readonly SendRow[];
  readonly #looks: readonly LookRow[];
  readonly #afterMs: number;

  constructor(sends: readonly SendRow[], looks: readonly LookRow[], sandbox: boolean) {
    this.#sends = sends;
    this.#looks = looks;
    this.#afterMs = conclusiveAfterMs(sandbox);
  }

  /** True where nothing more could come of a send by what was known at an instant (rules 5 and 6). */
  isSettled(send: SendRow, atMs: number): boolean {
    return isClosed(send, atMs) || this.isLookedAt(send, atMs);
  }

  /** True where a whole look that began late enough had been written by then. */
  isLookedAt({ leaveByMs }: SendRow, atMs: number): boolean {
    return this.#looks.some(
      ({ isWhole, begunMs, recordedMs }) =>
        isWhole && recordedMs <= atMs && begunMs >= leaveByMs + this.#afterMs,
    );
  }

  /**
   * True where a conflict can't come from a request of ours that still ran: each earlier one was
   * settled when this one was let through (rule 8).
   */
  isBound(conflicted: SendRow): boolean {
    const at = this.#sends.findIndex(({ sendId }) => sendId === conflicted.sendId);
    const earlier = this.#sends.slice(0, at);
    return earlier.every((send) => this.isSettled(send, conflicted.openedMs));
  }
}

/** W and two minutes (rule 6); a sandbox's clock is only read now and then. */
function conclusiveAfterMs(sandbox: boolean): number {
  return sandbox ? 8 * 60_000 - 5_000 : 32 * 60_000 - 1_000;
}

/** What closes a send: that it never left, a documented refusal, or its success (rules 5 and 8). */
const CLOSED: readonly string[] = ["not-sent", "refused", "rejected", "applied"];

/** True where its sender had heard by then what closes it. */
function isClosed({ result, answeredMs }: SendRow, atMs: number): boolean {
  return CLOSED.includes(result) && answeredMs !== null && answeredMs <= atMs;
}

/** True where its sender had certainly heard this by then. */
export function heard(send: SendRow, results: readonly string[], beforeMs: number): boolean {
  return results.includes(send.result) && send.answeredMs !== null && send.answeredMs < beforeMs;
}
