import { expect, test } from "vitest";
import { sendJson, startService } from "./local-service.ts";

const bodyText = '{ "payableId":"pay_1",   "amountCents": 100 }';
const write = { method: "POST" as const, path: "/v1/payments", bodyText, idempotencyKey: "k-1" };

test("a frozen request is sent byte for byte, with its key", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, { a: 1 }));
  await service.client().sendMoneyWrite(write);
  expect(service.received).toEqual([
    expect.objectContaining({ method: "POST", url: "/v1/payments", bodyText }),
  ]);
  expect(service.received[0]?.headers).toMatchObject({
    "idempotency-key": "k-1",
    "content-type": "application/json",
    authorization: "Bearer test-token",
  });
});

test("a response is reported as it is, with the service's time and its Retry-After", async () => {
  const date = "Sat, 21 Nov 2026 10:00:00 GMT";
  const service = await startService((_received, response) =>
    sendJson(response, 429, { error: "rate" }, { date, "retry-after": "2" }),
  );
  expect(await service.client().sendMoneyWrite(write)).toEqual({
    kind: "http",
    status: 429,
    body: { error: "rate" },
    bodyText: '{"error":"rate"}',
    headersDateMs: Date.parse(date),
    retryAfterMs: 2000,
  });
});

test("the recorded text of a long response is cut, but its JSON is whole", async () => {
  const long = { text: "x".repeat(10_000) };
  const service = await startService((_received, response) => sendJson(response, 201, long));
  const answer = await service.client().sendMoneyWrite(write);
  expect(answer).toMatchObject({ kind: "http", body: long });
  expect(answer.kind === "http" && answer.bodyText.length).toBe(4096);
});

test("a response body that is not JSON reads as undefined", async () => {
  const service = await startService((_received, response) => void response.end("<html>"));
  expect(await service.client().sendMoneyWrite(write)).toMatchObject({
    kind: "http",
    status: 200,
    body: undefined,
    bodyText: "<html>",
  });
});

test("a write without a body is sent without one", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const path = "/v1/payables/pay_1/retry-payment";
  await service.client().sendMoneyWrite({ method: "POST", path, idempotencyKey: "k" });
  expect(service.received[0]?.bodyText).toBe("");
  expect(service.received[0]?.headers["content-type"]).toBeUndefined();
});

test("a connection dropped after the send gives no response, and the write is not sent again", async () => {
  const service = await startService((_received, response) => void response.destroy());
  const answer = await service.client().sendMoneyWrite(write);
  expect(answer).toMatchObject({ kind: "no-answer", sent: true, code: "no_answer" });
  expect(service.received).toHaveLength(1);
});

test("a connection dropped while it was idle does not make the next write leave twice", async () => {
  const service = await startService((_received, response) => {
    sendJson(response, 201, {});
    response.on("finish", () => response.socket?.destroy());
  });
  const client = service.client({ connections: 1 });
  for (let count = 1; count <= 20; count += 1) {
    const before = service.received.length;
    const answer = await client.sendMoneyWrite({ ...write, idempotencyKey: `k-${count}` });
    expect(service.received.length - before).toBeLessThanOrEqual(1);
    if (answer.kind === "http") expect(service.received.length - before).toBe(1);
  }
});

test("a refused connection gives no response, and the write counts as never sent", async () => {
  const service = await startService(() => undefined);
  const baseUrl = service.baseUrl.replace("127.0.0.1", "127.0.0.2");
  const answer = await service.client({ baseUrl }).sendMoneyWrite(write);
  expect(answer).toMatchObject({ kind: "no-answer", sent: false, code: "not_sent" });
});

test("without a token nothing is sent, and the result gives the reason", async () => {
  const service = await startService(() => undefined);
  const client = service.client({ token: { file: "/nonexistent/token" } });
  const answer = await client.sendMoneyWrite(write);
  expect(answer).toMatchObject({ kind: "no-answer", sent: false, code: "token_unavailable" });
  expect(answer.kind === "no-answer" && answer.reason).toContain("/nonexistent/token");
  expect(service.received).toHaveLength(0);
});

test("a base URL keeps its path", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const client = service.client({ baseUrl: `${service.baseUrl}/payments/` });
  await client.sendMoneyWrite(write);
  expect(service.received[0]?.url).toBe("/payments/v1/payments");
});

test.each(["", "x".repeat(65), "with space", "line\nbreak"])(
  "a key that the service would refuse (%j) is refused by the client",
  async (idempotencyKey) => {
    const service = await startService(() => undefined);
    const sent = service.client().sendMoneyWrite({ ...write, idempotencyKey });
    await expect(sent).rejects.toThrow("idempotencyKey must be 1 to 64 visible ASCII characters");
  },
);
