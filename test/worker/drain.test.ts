import { once } from "node:events";
import { expect, test } from "vitest";
import { attemptsOf } from "../../src/ledger/attempts.ts";
import { approve, plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

test("a worker that is stopped waits for the responses to its requests, records them, and leases no more lines", async () => {
  const payrun = await start({ worker: false });
  const worker = await payrun.startWorker();
  const { runId, made } = await plannedRun(payrun, [100_00]);
  await payrun.sandbox.control.faults([
    {
      method: "POST",
      path: "/v1/payments",
      when: "after",
      effect: "delay",
      delayMs: 3_000,
      times: 1,
    },
  ]);
  await approve(payrun, runId);
  await expect
    .poll(async () => (await payrun.sandbox.api("GET", "/v1/payments")).body["totalCount"])
    .toBe(1);
  const exited = once(worker, "exit");
  worker.kill("SIGTERM");
  const [code] = await exited;
  expect(code).toBe(0);
  const [attempt] = await attemptsOf(
    payrun.store.db,
    payrun.sandbox.business.businessId,
    made[0]?.id ?? "",
  );
  expect(attempt).toMatchObject({ state: "applied", answer: "2xx" });
  expect((await payrun.status(runId)).counts).toEqual({ scheduled: 1 });
});
