import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import { TimeLimit } from "../../src/payments-api/index.ts";
import { sendJson, startService } from "./local-service.ts";

const write = {
  method: "POST" as const,
  path: "/v1/payments",
  bodyText: "{}",
  idempotencyKey: "k-1",
};
const tooLate = {
  kind: "no-answer",
  sent: false,
  code: "not_sent",
  reason: "its time to leave had passed",
};

/** Blocks the whole thread, as SIGSTOP would: timers become overdue and don't run. */
function freezeFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("a write is kept back if its time to leave passes while its connection is made", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const answer = await service.client().sendMoneyWrite({
    ...write,
    leaveBy: new TimeLimit(40),
    // Runs once the connection has been requested, before the event loop can see it ready.
    beforeSend: () => process.nextTick(() => freezeFor(80)),
  });
  expect(answer).toEqual(tooLate);
  expect(service.received).toHaveLength(0);
});

test("a write is kept back from an open connection if its time to leave has passed", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const client = service.client({ connections: 1 });
  expect(await client.sendMoneyWrite({ ...write, leaveBy: new TimeLimit(60_000) })).toMatchObject({
    status: 201,
  });
  const late = await client.sendMoneyWrite({
    ...write,
    leaveBy: new TimeLimit(40),
    beforeSend: () => freezeFor(80),
  });
  expect(late).toEqual(tooLate);
  expect(await client.sendMoneyWrite(write)).toMatchObject({ status: 201 });
  expect(service.received).toHaveLength(2);
});

test("the time to leave starts before the decision to send, which doesn't restart it", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const answer = await service.client().sendMoneyWrite({
    ...write,
    leaveBy: new TimeLimit(40),
    beforeSend: () => new Promise<void>((resolve) => setTimeout(resolve, 80)),
  });
  expect(answer).toEqual(tooLate);
  expect(service.received).toHaveLength(0);
});

test("waiting for a connection uses up the time to leave", async () => {
  const held: ServerResponse[] = [];
  const service = await startService((_received, response) => void held.push(response));
  const client = service.client({ connections: 1 });
  const first = client.sendMoneyWrite(write);
  await expect.poll(() => held).toHaveLength(1);
  const leaveBy = new TimeLimit(30);
  const second = client.sendMoneyWrite({ ...write, leaveBy });
  await expect.poll(() => leaveBy.passed).toBe(true);
  for (const response of held) sendJson(response, 201, {});
  await first;
  expect(await second).toEqual(tooLate);
  expect(service.received).toHaveLength(1);
});

test("a write that left in time gets its response even after its time to leave", async () => {
  let isLate = false;
  class Limit extends TimeLimit {
    override get passed(): boolean {
      return isLate;
    }
  }
  const service = await startService((_received, response) => {
    isLate = true;
    sendJson(response, 201, {});
  });
  const leaveBy = new Limit(0);
  expect(await service.client().sendMoneyWrite({ ...write, leaveBy })).toMatchObject({
    status: 201,
  });
});

test("a time limit has passed if either the wall clock or the monotonic clock says so", () => {
  const wall = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
  const monotonic = vi.spyOn(performance, "now").mockReturnValue(500);
  try {
    const limit = new TimeLimit(100);
    expect(limit.passed).toBe(false);
    wall.mockReturnValue(1_000_099);
    monotonic.mockReturnValue(599);
    expect(limit.passed).toBe(false);

    // The monotonic clock of a suspended machine stands still.
    wall.mockReturnValue(1_000_100);
    monotonic.mockReturnValue(501);
    expect(limit.passed).toBe(true);

    // Now the wall clock has been set back.
    wall.mockReturnValue(0);
    monotonic.mockReturnValue(600);
    expect(limit.passed).toBe(true);
  } finally {
    wall.mockRestore();
    monotonic.mockRestore();
  }
});
