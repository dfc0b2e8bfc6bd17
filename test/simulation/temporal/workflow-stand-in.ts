import { CancelledFailure, type SearchAttributePair } from "@temporalio/common";
import { type ActivityOptions, ContinueAsNew, executionHere } from "./execution.ts";
import { durationMs, type GivenDuration } from "./duration.ts";

export { ActivityFailure, ApplicationFailure } from "@temporalio/common";

/** Stands in for `@temporalio/workflow`, with only what the workflows here use. */

type Handler = (...input: readonly unknown[]) => unknown;

interface Definition {
  readonly kind: "signal" | "query" | "update";
  readonly name: string;
}

interface GivenOptions {
  readonly startToCloseTimeout: GivenDuration;
  readonly heartbeatTimeout?: GivenDuration;
  readonly retry?: {
    readonly initialInterval?: GivenDuration;
    readonly maximumInterval?: GivenDuration;
    readonly maximumAttempts?: number;
  };
}

export function condition(
  isTrue: () => boolean,
  timeout?: GivenDuration,
): Promise<boolean | undefined> {
  return executionHere().condition(isTrue, timeout === undefined ? undefined : durationMs(timeout));
}

export function continueAsNew(...input: readonly unknown[]): Promise<never> {
  return Promise.reject(new ContinueAsNew(plain(input)));
}

export function defineSignal(name: string): Definition {
  return { kind: "signal", name };
}

export function defineQuery(name: string): Definition {
  return { kind: "query", name };
}

export function defineUpdate(name: string): Definition {
  return { kind: "update", name };
}

export function setHandler(definition: Definition, handler: Handler): void {
  const execution = executionHere();
  if (definition.kind === "signal") execution.setSignal(definition.name, handler);
  if (definition.kind === "query") execution.queries.set(definition.name, () => handler());
}

export function isCancellation(error: unknown): boolean {
  return error instanceof CancelledFailure;
}

/** No workflow is cancelled here. */
export const CancellationScope = {
  nonCancellable: <T>(work: () => Promise<T>): Promise<T> => work(),
};

export function allHandlersFinished(): boolean {
  return executionHere().allHandlersFinished;
}

export function workflowInfo(): {
  readonly continueAsNewSuggested: boolean;
  readonly typedSearchAttributes: { get(key: { readonly name: string }): unknown };
} {
  const { isLong, searchAttributes } = executionHere();
  return {
    continueAsNewSuggested: isLong,
    typedSearchAttributes: { get: ({ name }) => searchAttributes.get(name) },
  };
}

export function setCurrentDetails(): void {}

export function upsertSearchAttributes(pairs: readonly SearchAttributePair[]): void {
  const execution = executionHere();
  for (const { key, value } of pairs) execution.searchAttributes.set(key.name, value);
  execution.wrote(1);
}

/** Returns activities by name; each call is scheduled on the server with these options. */
export function proxyActivities(given: GivenOptions): unknown {
  const { retry = {} } = given;
  const initialMs = durationMs(retry.initialInterval ?? 1_000);
  const options: ActivityOptions = {
    startToCloseMs: durationMs(given.startToCloseTimeout),
    heartbeatMs:
      given.heartbeatTimeout === undefined ? undefined : durationMs(given.heartbeatTimeout),
    initialMs,
    maximumMs: durationMs(retry.maximumInterval ?? 100 * initialMs),
    attempts: retry.maximumAttempts ?? Infinity,
  };
  return new Proxy(
    {},
    {
      get(_, type: string) {
        const call = (...input: readonly unknown[]): Promise<unknown> =>
          executionHere().activity(type, plain(input), options);
        return Object.assign(call, {
          executeWithOptions: (_options: unknown, input: readonly unknown[]) => call(...input),
        });
      },
    },
  );
}

/** Returns what a payload keeps of a value. */
function plain(input: readonly unknown[]): readonly unknown[] {
  return JSON.parse(JSON.stringify(input)) as readonly unknown[];
}
