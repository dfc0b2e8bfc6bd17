import { TimeLimit } from "./time-limit.ts";

/**
 * One limit for a whole request: waiting for a connection, fetching the token, sending, and reading
 * the response to its end. Ends at its time or when the caller's signal fires, whichever is first.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #limit: TimeLimit;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onCallerAbort = () => {
    this.#stoppedByCaller = true;
    this.#controller.abort();
  };
  #stoppedByCaller = false;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#limit = new TimeLimit(timeoutMs);
    this.#timer = setTimeout(() => this.#controller.abort(), timeoutMs);
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#onCallerAbort();
    else callerSignal?.addEventListener("abort", this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get stoppedByCaller(): boolean {
    return this.#stoppedByCaller;
  }

  /** True if it is too late to send, even if the overdue timer has not run yet. */
  get passed(): boolean {
    return this.signal.aborted || this.#limit.passed;
  }

  /** Returns the work's result; undefined once the deadline has passed. */
  async race<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this;
    if (signal.aborted) {
      work.catch(() => undefined);
      return undefined;
    }
    let onAbort: () => void = () => undefined;
    const over = new Promise<undefined>((resolve) => {
      onAbort = () => resolve(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Must be called when the request is over; otherwise the timer keeps the process alive. */
  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this.#onCallerAbort);
  }
}
