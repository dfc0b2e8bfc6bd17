import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import {
  NoAnswerError,
  PaymentsApiError,
  PaymentUnconfirmedError,
  UnexpectedAnswerError,
} from "../../src/payments-api/index.ts";
import { payment, rejection, sendJson, startService } from "./local-service.ts";

interface Case {
  title: string;
  answer: (response: ServerResponse) => void;
  code: string;
  outcome: "not_applied" | "unknown";
  status?: number;
}

function refusal(status: number, code: string): Case {
  return {
    title: `${status} ${code}`,
    answer: (response) => sendJson(response, status, { error: code, message: "because" }),
    code,
    status,
    outcome: "not_applied",
  };
}

const notApplied: Case[] = [
  refusal(400, "validation_error"),
  refusal(403, "feature_unavailable"),
  refusal(404, "not_found"),
  refusal(409, "payment_in_progress"),
  refusal(409, "insufficient_balance"),
  refusal(409, "a_code_of_tomorrow"),
  refusal(422, "contact_not_payable"),
  {
    title: "401 without a code",
    answer: (response) => sendJson(response, 401, { statusCode: 401, message: "Unauthorized" }),
    code: "unauthorized",
    status: 401,
    outcome: "not_applied",
  },
  {
    title: "403 without a code",
    answer: (response) => sendJson(response, 403, { statusCode: 403, message: "Forbidden" }),
    code: "forbidden",
    status: 403,
    outcome: "not_applied",
  },
  {
    title: "429 with a proxy's body",
    answer: (response) => void response.writeHead(429).end("slow down"),
    code: "rate_limited",
    status: 429,
    outcome: "not_applied",
  },
];

const unknown: Case[] = [
  { ...refusal(409, "payment_unconfirmed"), outcome: "unknown" },
  { ...refusal(409, "idempotency_conflict"), outcome: "unknown" },
  { ...refusal(408, "request_timeout"), outcome: "unknown" },
  { ...refusal(500, "internal_error"), outcome: "unknown" },
  {
    title: "502 with a proxy's page",
    answer: (response) => void response.writeHead(502).end("<html>Bad gateway</html>"),
    code: "server_error",
    status: 502,
    outcome: "unknown",
  },
  {
    title: "a redirect",
    answer: (response) => void response.writeHead(307, { location: "/v1/elsewhere" }).end(),
    code: "unexpected_answer",
    status: 307,
    outcome: "unknown",
  },
  {
    title: "a 404 page that is not the service's",
    answer: (response) => void response.writeHead(404).end("<html>No such page</html>"),
    code: "unexpected_answer",
    status: 404,
    outcome: "unknown",
  },
  {
    title: "a 400 whose error is not a code",
    answer: (response) =>
      sendJson(response, 400, { statusCode: 400, error: "Bad Request", message: "no" }),
    code: "unexpected_answer",
    status: 400,
    outcome: "unknown",
  },
  {
    title: "a 201 that is not JSON",
    answer: (response) => void response.writeHead(201).end('{"payableId": "pay_1", "paym'),
    code: "unexpected_answer",
    status: 201,
    outcome: "unknown",
  },
  {
    title: "a 201 without the documented shape",
    answer: (response) => sendJson(response, 201, { ok: true }),
    code: "unexpected_answer",
    status: 201,
    outcome: "unknown",
  },
  {
    title: "a 201 without any payment",
    answer: (response) => sendJson(response, 201, { payableId: "pay_1", payments: [] }),
    code: "unexpected_answer",
    status: 201,
    outcome: "unknown",
  },
  {
    title: "a connection dropped before the answer",
    answer: (response) => void response.destroy(),
    code: "no_answer",
    outcome: "unknown",
  },
  {
    title: "a connection dropped inside the answer",
    answer: (response) => {
      response.writeHead(201, { "content-length": "1000" });
      response.write('{"payableId":', () => response.destroy());
    },
    code: "no_answer",
    outcome: "unknown",
  },
];

describe.each([...notApplied, ...unknown])("a payment with the response $title", (expected) => {
  test(`a payment with this response is ${expected.outcome}, has its code, and is sent once`, async () => {
    const service = await startService((_received, response) => expected.answer(response));
    const client = service.client();
    const error = await rejection(
      client.payments.create({ payableId: "pay_1" }, { idempotencyKey: "key-1" }),
    );
    expect(error).toBeInstanceOf(PaymentsApiError);
    expect(error).toMatchObject({
      code: expected.code,
      status: expected.status,
      outcome: expected.outcome,
      method: "POST",
      path: "/v1/payments",
    });
    expect(service.received).toHaveLength(1);
    expect(service.received[0]?.headers["idempotency-key"]).toBe("key-1");
  });
});

test("a failed read never has an unknown outcome", async () => {
  let status = 0;
  const service = await startService((_received, response) =>
    sendJson(response, status, { error: "payment_unconfirmed", message: "" }),
  );
  const client = service.client();
  for (status of [500, 302, 409]) {
    expect(await rejection(client.payments.get("p"))).toMatchObject({
      status,
      outcome: "not_applied",
    });
  }
});

test("a payment that times out after it left has an unknown outcome, and is sent once", async () => {
  const service = await startService(() => undefined);
  const client = service.client({ timeoutMs: 1_000 });
  const error = await rejection(
    client.payments.create({ payableId: "pay_1" }, { idempotencyKey: "key-1" }),
  );
  expect(error).toBeInstanceOf(NoAnswerError);
  expect(error).toMatchObject({ code: "no_answer", status: undefined, outcome: "unknown" });
  expect(service.received).toHaveLength(1);
});

test("a response whose body stops halfway ends at the time limit", async () => {
  const service = await startService((_received, response) => {
    response.writeHead(201, { "content-length": "1000" });
    response.write("{");
  });
  const client = service.client({ timeoutMs: 1_000 });
  const error = await rejection(
    client.payments.create({ payableId: "pay_1" }, { idempotencyKey: "key-1" }),
  );
  expect(error).toMatchObject({ code: "no_answer", outcome: "unknown" });
});

test("a payment that can't reach the service is certainly not applied", async () => {
  const service = await startService(() => undefined);
  const port = new URL(service.baseUrl).port;
  const client = service.client({ baseUrl: `http://127.0.0.2:${port}` });
  const error = await rejection(
    client.payments.create({ payableId: "pay_1" }, { idempotencyKey: "key-1" }),
  );
  expect(error).toMatchObject({ code: "not_sent", outcome: "not_applied" });
  expect(String(error)).toContain("ECONNREFUSED");
});

test("an error carries the service's details and its Retry-After", async () => {
  const service = await startService((_received, response) =>
    sendJson(
      response,
      429,
      { error: "too_many", message: "slow down", details: { status: "scheduled" } },
      { "retry-after": "7" },
    ),
  );
  const error = await rejection(service.client().balance.get());
  expect(error).toMatchObject({
    name: "PaymentsApiError",
    code: "too_many",
    details: { status: "scheduled" },
    retryAfterMs: 7000,
    message: "GET /v1/balance: 429 too_many: slow down",
  });
});

test("payment_unconfirmed and malformed responses have error classes of their own", async () => {
  const service = await startService((_received, response, index) =>
    index === 0
      ? sendJson(response, 409, { error: "payment_unconfirmed", message: "" })
      : sendJson(response, 200, { payment: payment("p", { amountCents: "12" }), message: "done" }),
  );
  const client = service.client();
  const cancel = (key: string) =>
    rejection(client.payments.cancel("p", {}, { idempotencyKey: key }));
  expect(await cancel("a")).toBeInstanceOf(PaymentUnconfirmedError);
  const misshaped = await cancel("b");
  expect(misshaped).toBeInstanceOf(UnexpectedAnswerError);
  expect(String(misshaped)).toContain("payment.amountCents");
});

test("a write refused with 401 is not sent again", async () => {
  const service = await startService((_received, response) =>
    sendJson(response, 401, { statusCode: 401, message: "Unauthorized" }),
  );
  await rejection(service.client().contacts.archive("con_1"));
  expect(service.received).toHaveLength(1);
});
