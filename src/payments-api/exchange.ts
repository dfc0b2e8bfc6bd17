import type { Dispatcher } from "undici";
import type { Deadline } from "./deadline.ts";
import type { Slots } from "./slots.ts";
import type { TimeLimit } from "./time-limit.ts";

/** A page of a hundred records has some 100 KB. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Longer answers of one service are received one at a time, so that together they take little. */
const longAnswerBytes = 256 * 1024;

export type Headers = Record<string, string | string[] | undefined>;

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bodyText: string;
}

/** The answer is too long to be one. */
export class TooLongError extends Error {
  override readonly name = "TooLongError";

  constructor() {
    super(`its answer is longer than ${maxAnswerBytes} bytes`);
  }
}

/**
 * One request on its connection: lets it leave, once and only in time, and receives its answer.
 *
 * It is undici's own handler: the bodies of `request` are streams, which cost more than the rest of
 * a request.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #deadline: Deadline;
  readonly #leaveBy: TimeLimit | undefined;
  /** For the long answers of the service. */
  readonly #longAnswers: Slots;
  readonly #forgetDeadline: () => void;
  readonly #chunks: Uint8Array[] = [];
  readonly #answer = Promise.withResolvers<Received>();
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;
  #status = 0;
  #headers: Headers = {};
  #length = 0;
  /** Whether it is long, and then has its turn to be received. */
  #long: "no" | "waits" | "turn" = "no";
  #ended = false;

  constructor(deadline: Deadline, leaveBy: TimeLimit | undefined, longAnswers: Slots) {
    this.#deadline = deadline;
    this.#leaveBy = leaveBy;
    this.#longAnswers = longAnswers;
    this.#forgetDeadline = deadline.onEnd(() => this.#abort(new Error("its time is up")));
  }

  /** Rejects if the request doesn't leave, or no whole answer to it comes. */
  get answer(): Promise<Received> {
    return this.#answer.promise;
  }

  /** True if the request may have left; false if it certainly never did. */
  get sent(): boolean {
    return this.#sent;
  }

  /**
   * Called when a connection is ready and before the first byte; if it throws, nothing is sent.
   * Between its return and the write to the socket undici waits for nothing: it only composes the
   * head.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#sent) throw new Error("a request is never sent a second time");
    if (this.#deadline.passed) throw new Error("the time limit had passed before it could be sent");
    if (this.#leaveBy?.passed) throw new Error("its time to leave had passed");
    this.#sent = true;
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > maxAnswerBytes) return this.#abort(new TooLongError());
    this.#chunks.push(chunk);
    if (this.#length <= longAnswerBytes || this.#long !== "no") return;
    this.#long = "waits";
    controller.pause();
    void this.#longAnswers.acquire(this.#deadline).then((isOurs) => {
      if (!isOurs) return;
      // Its connection may have ended meanwhile.
      if (this.#ended) return this.#longAnswers.release();
      this.#long = "turn";
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#end();
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    const bodyText = bytes === undefined ? "" : decoder.decode(bytes);
    this.#answer.resolve({ status: this.#status, headers: this.#headers, bodyText });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#end();
    this.#answer.reject(error);
  }

  /** Ends it with its connection. One that has no connection yet never leaves. */
  #abort(error: Error): void {
    this.#controller?.abort(error);
  }

  #end(): void {
    this.#forgetDeadline();
    this.#ended = true;
    if (this.#long === "turn") this.#longAnswers.release();
  }
}

const decoder = new TextDecoder();
