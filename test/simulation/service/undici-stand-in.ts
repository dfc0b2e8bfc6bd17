import { nodeHere } from "../world/world.ts";
import { worldHere } from "../world/globals.ts";
import type { Wire, WireAnswer, WireRequest } from "./wire.ts";

/** Stands in for `undici`: the client's own transport over a network without sockets. */

interface RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal?: AbortSignal;
  readonly opaque?: unknown;
}

interface Controller {
  readonly abort: (reason: Error) => void;
  readonly pause: () => void;
  readonly resume: () => void;
}

interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void;
  onResponseStart?(
    controller: Controller,
    status: number,
    headers: WireAnswer["headers"],
    text: string,
  ): void;
  onResponseData?(controller: Controller, chunk: Buffer): void;
  onResponseEnd?(controller: Controller, trailers: object): void;
  onResponseError?(controller: Controller, error: Error): void;
}

type Dispatch = (options: RequestOptions, handler: Handler) => boolean;

interface Answered {
  readonly statusCode: number;
  readonly headers: WireAnswer["headers"];
  readonly body: AsyncIterable<Buffer> & { text(): Promise<string>; dump(): Promise<void> };
}

let wire: Wire | undefined;

/** Sets where requests go from now on. */
export function connectTo(next: Wire): void {
  wire = next;
}

/** A connection is free, the gate is called, and the request leaves in the same turn. */
const baseDispatch: Dispatch = (options, handler) => {
  const aborted = Promise.withResolvers<Error>();
  const controller: Controller = {
    abort: (reason) => aborted.resolve(reason),
    pause: () => undefined,
    resume: () => undefined,
  };
  const { signal } = options;
  signal?.addEventListener("abort", () => controller.abort(new Error("aborted")), { once: true });
  void (async () => {
    const world = worldHere();
    try {
      await world.boundary(`connect ${options.method} ${options.path.split("?")[0]}`);
      if (signal?.aborted === true) throw new Error("aborted before it was sent");
      handler.onRequestStart?.(controller, {});
    } catch (error) {
      handler.onResponseError?.(controller, error instanceof Error ? error : new Error("failed"));
      return;
    }
    const request: WireRequest = {
      method: options.method,
      path: options.path,
      key: options.headers["idempotency-key"] ?? null,
      body: options.body ?? "",
      from: nodeHere()?.id ?? "",
    };
    const answer = await Promise.race([exchanged(request), aborted.promise]);
    if (answer instanceof Error) {
      handler.onResponseError?.(controller, answer);
      return;
    }
    handler.onResponseStart?.(controller, answer.status, answer.headers, "");
    handler.onResponseData?.(controller, Buffer.from(answer.body));
    handler.onResponseEnd?.(controller, {});
  })();
  return true;
};

function exchanged(request: WireRequest): Promise<WireAnswer | Error> {
  return new Promise((resolve) => {
    const to = wire;
    if (to === undefined) throw new Error("no service is connected");
    // The answer comes to the process that sent the request, not to the service.
    const world = worldHere();
    const node = nodeHere();
    const heard = (answer: WireAnswer | Error): void => {
      const go = (): void => resolve(answer);
      if (node === undefined) go();
      else world.in(node, () => void world.boundary("answer").then(go));
    };
    to.send(request, heard);
  });
}

function requestOver(dispatch: Dispatch, options: RequestOptions): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let start: Pick<Answered, "statusCode" | "headers"> = { statusCode: 0, headers: {} };
    let text = "";
    dispatch(options, {
      onResponseStart: (_, statusCode, headers) => {
        start = { statusCode, headers };
      },
      onResponseData: (_, chunk) => {
        text += chunk.toString();
      },
      onResponseEnd: () =>
        resolve({
          ...start,
          body: {
            text: () => Promise.resolve(text),
            dump: () => Promise.resolve(),
            async *[Symbol.asyncIterator]() {
              yield Buffer.from(text);
            },
          },
        }),
      onResponseError: (_, error) => reject(error),
    });
  });
}

export class Pool {
  readonly dispatch = baseDispatch;

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export class Agent extends Pool {}

/** No proxy stands in this world's environment. */
export class ProxyAgent extends Pool {}

/** Nobody signs in here. */
export function fetch(): Promise<never> {
  return Promise.reject(new Error("this world has no sign-in provider"));
}

class HeadersTimeoutError extends Error {}
class BodyTimeoutError extends Error {}

/** What requests fail with if nothing comes in time. */
export const errors = { HeadersTimeoutError, BodyTimeoutError };

/** Sends a request without a pool, for a sandbox's clocks. */
export async function request(
  url: string | URL,
  { headersTimeout }: { readonly headersTimeout: number },
): Promise<Answered> {
  const { pathname, search } = new URL(url);
  const path = `${pathname}${search}`;
  const signal = AbortSignal.timeout(headersTimeout);
  const options = { method: "GET", path, headers: {}, body: null, signal };
  try {
    return await requestOver(baseDispatch, options);
  } catch (error) {
    throw signal.aborted ? new HeadersTimeoutError("no answer", { cause: error }) : error;
  }
}
