import { TimeLimit } from "./time-limit.ts";

/**
 * One limit for a whole request: waiting for a connection, fetching the token, sending, and reading
 * the response to its end. Ends at its time or when the caller's signal fires, whichever is first.
 *
 * It calls functions instead of firing a signal: thousands of requests a second would spend a tenth
 * of their time on signals that never fire.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #limit: TimeLimit;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #onCallerAbort = () => {
    this.#stoppedByCaller = true;
    this.#end();
  };
  #ended = false;
  #stoppedByCaller = false;

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#limit = new TimeLimit(timeoutMs);
    this.#timer = setTimeout(() => this.#end(), timeoutMs);
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#onCallerAbort();
    else callerSignal?.addEventListener("abort", this.#onCallerAbort, { once: true });
  }

  /** True once it has ended the request. */
  get ended(): boolean {
    return this.#ended;
  }

  get stoppedByCaller(): boolean {
    return this.#stoppedByCaller;
  }

  /** True if it is too late to send, even if the overdue timer has not run yet. */
  get passed(): boolean {
    return this.#ended || this.#limit.passed;
  }

  /** Calls back when it ends, unless the returned function is called before; at most once. */
  onEnd(call: () => void): () => void {
    this.#waiting.add(call);
    return () => this.#waiting.delete(call);
  }

  /** Returns the work's result; undefined once the deadline has ended. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.#ended) {
      work.catch(() => undefined);
      return Promise.resolve(undefined);
    }
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const forget = this.onEnd(() => resolve(undefined));
    work.then(resolve, reject).then(forget, forget);
    return promise;
  }

  /** Must be called when the request is over; otherwise the timer keeps the process alive. */
  close(): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this.#onCallerAbort);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const call of this.#waiting) call();
    this.#waiting.clear();
  }
}
