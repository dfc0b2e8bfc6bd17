import { type Client, ServiceError } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { test } from "vitest";
import { persistently } from "../../src/actions/temporal.ts";

const client = {
  withDeadline: <T>(_deadline: number, fn: () => Promise<T>): Promise<T> => fn(),
} as unknown as Client;

test.concurrent("a call that Temporal never answers is made once more, even though its time is over", async ({
  expect,
}) => {
  let calls = 0;
  const answer = await persistently(client, () => {
    calls += 1;
    return calls === 1 ? new Promise<string>(() => undefined) : Promise.resolve("answered");
  });
  expect(answer).toBe("answered");
  expect(calls).toBe(2);
});

test.concurrent("if Temporal never answers, the caller learns so after the second call", async ({
  expect,
}) => {
  let calls = 0;
  const asked = persistently(client, () => {
    calls += 1;
    return new Promise<string>(() => undefined);
  });
  await expect(asked).rejects.toMatchObject({ code: "temporal_unreachable" });
  expect(calls).toBe(2);
});

/** An error as Temporal's client throws it for a gRPC status. */
function statusOf(code: number, details: string): ServiceError {
  const cause = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  return new ServiceError("Failed to start Workflow", { cause });
}

test.concurrent.for([
  ["is overloaded", statusOf(8, "the workflow is busy")],
  ["fails inside", statusOf(13, "shard closed")],
  ["ends a run of the same id meanwhile", new WorkflowNotFoundError("completed", "run", undefined)],
] as const)("if Temporal %s, the call is made again", async ([, error], { expect }) => {
  let calls = 0;
  const answer = await persistently(client, () => {
    calls += 1;
    return calls === 1 ? Promise.reject(error) : Promise.resolve("answered");
  });
  expect([answer, calls]).toEqual(["answered", 2]);
});

test.concurrent("a request that Temporal calls invalid isn't made again: it is a bug here", async ({
  expect,
}) => {
  const error = statusOf(3, "workflow id is too long");
  await expect(persistently(client, () => Promise.reject(error))).rejects.toBe(error);
});
