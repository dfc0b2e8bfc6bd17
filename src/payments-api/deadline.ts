import { TimeLimit } from "./time-limit.ts";

/**
 * One limit for a whole request: waiting for a connection, fetching the token, sending, and reading
 * the answer to its end. Ends at its time or when the caller's signal fires, whichever is first.
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

  /** Whether it is too late to send, even where the overdue timer has not run yet. */
  get passed(): boolean {
    return this.signal.aborted || this.#limit.passed;
  }

  /** The work's result, or undefined once the deadline has come. */
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

  /** Must be called when the request is over, or the timer keeps the process alive. */
  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this.#onCallerAbort);
  }
}
