import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { sendJson, startService } from "./local-service.ts";

const write = { method: "POST" as const, path: "/v1/payments", bodyText: "{}" };

test("a write that timed out in the queue never leaves", async () => {
  const held: ServerResponse[] = [];
  const service = await startService((_received, response) => void held.push(response));
  const client = service.client({ connections: 1 });
  const first = client.sendMoneyWrite({ ...write, idempotencyKey: "first" });
  await expect.poll(() => held).toHaveLength(1);
  const queued = await client.sendMoneyWrite({ ...write, idempotencyKey: "queued", timeoutMs: 50 });
  expect(queued).toMatchObject({ kind: "no-answer", sent: false, code: "not_sent" });

  for (const response of held) sendJson(response, 201, {});
  expect(await first).toMatchObject({ kind: "http", status: 201 });
  const third = client.sendMoneyWrite({ ...write, idempotencyKey: "third" });
  await expect.poll(() => held).toHaveLength(2);
  for (const response of held.slice(1)) sendJson(response, 201, {});
  await third;
  expect(service.received.map(({ headers }) => headers["idempotency-key"])).toEqual([
    "first",
    "third",
  ]);
});

test("requests beyond the number of connections wait until one is free", async () => {
  let open = 0;
  let most = 0;
  const service = await startService((_received, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      sendJson(response, 201, {});
    }, 5);
  });
  const client = service.client({ connections: 2 });
  const keys = Array.from({ length: 12 }, (_, index) => `k-${index}`);
  const answers = await Promise.all(
    keys.map((idempotencyKey) => client.sendMoneyWrite({ ...write, idempotencyKey })),
  );
  expect(answers.every((answer) => answer.kind === "http")).toBe(true);
  expect(most).toBe(2);
  expect(service.received).toHaveLength(12);
});

test("the caller's signal stops waiting requests and requests under way", async () => {
  const held: ServerResponse[] = [];
  const service = await startService((_received, response) => void held.push(response));
  const client = service.client({ connections: 1 });
  const stop = new AbortController();
  const { signal } = stop;
  const sent = client.sendMoneyWrite({ ...write, idempotencyKey: "sent", signal });
  await expect.poll(() => held).toHaveLength(1);
  const waiting = client.sendMoneyWrite({ ...write, idempotencyKey: "waiting", signal });
  stop.abort();
  expect(await sent).toMatchObject({ sent: true, reason: "stopped by the caller" });
  expect(await waiting).toMatchObject({ sent: false, reason: "stopped by the caller" });
  expect(await client.sendMoneyWrite({ ...write, idempotencyKey: "late", signal })).toMatchObject({
    sent: false,
  });
  expect(service.received).toHaveLength(1);
});

test("beforeSend runs only when a connection is free, and can keep the request back", async () => {
  const held: ServerResponse[] = [];
  const service = await startService((_received, response) => void held.push(response));
  const client = service.client({ connections: 1 });
  const first = client.sendMoneyWrite({ ...write, idempotencyKey: "first" });
  await expect.poll(() => held).toHaveLength(1);
  let asked = false;
  const second = client.sendMoneyWrite({
    ...write,
    idempotencyKey: "second",
    beforeSend: () => {
      asked = true;
      throw new Error("the lease has run out");
    },
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBe(false);
  for (const response of held) sendJson(response, 201, {});
  await first;
  expect(await second).toEqual({
    kind: "no-answer",
    sent: false,
    code: "not_sent",
    reason: "stopped before sending: the lease has run out",
  });
  expect(asked).toBe(true);
  expect(service.received).toHaveLength(1);
});

test("a slow beforeSend uses up the request's time limit", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const answer = await service.client().sendMoneyWrite({
    ...write,
    idempotencyKey: "k",
    timeoutMs: 30,
    beforeSend: () => new Promise<void>((resolve) => setTimeout(resolve, 200)),
  });
  expect(answer).toMatchObject({ kind: "no-answer", sent: false });
  expect(service.received).toHaveLength(0);
});

test("a process that was frozen past the time limit does not send when it wakes", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const answer = await service.client().sendMoneyWrite({
    ...write,
    idempotencyKey: "k",
    timeoutMs: 40,
    // Blocks the whole thread, as SIGSTOP would: the timer is overdue and has not run.
    beforeSend: () => {
      const until = performance.now() + 80;
      while (performance.now() < until);
    },
  });
  expect(answer).toMatchObject({ kind: "no-answer", sent: false });
  expect(service.received).toHaveLength(0);
});

test("after every kind of failure a connection is free for the next request", async () => {
  const service = await startService((_received, response, index) => {
    if (index === 0) response.destroy();
    else if (index > 1) sendJson(response, 201, {});
  });
  const client = service.client({ connections: 1 });
  const send = (options: object) =>
    client.sendMoneyWrite({ ...write, idempotencyKey: "k", ...options });
  expect(await send({})).toMatchObject({ sent: true });
  expect(await send({ timeoutMs: 2_000 })).toMatchObject({ sent: true });
  expect(
    await send({
      beforeSend: () => {
        throw new Error("no");
      },
    }),
  ).toMatchObject({ sent: false });
  expect(await send({})).toMatchObject({ kind: "http", status: 201 });
});
