import type { Client } from "@temporalio/client";
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
