import { expect, test } from "vitest";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import { payment, sendJson, startService } from "./local-service.ts";

const contact = { id: "c", type: "payee", status: "active", paymentReady: true };
const payable = {
  id: "b",
  status: "draft",
  paymentStatus: "none",
  totalAmountCents: 1,
  amountPaidCents: 0,
};
const key = { idempotencyKey: "key" };

interface Call {
  call: (client: PaymentsClient) => Promise<unknown>;
  request: string;
  answer: unknown;
  body?: unknown;
  withKey?: boolean;
}

const calls: Call[] = [
  {
    call: (client) => client.contacts.list({ status: "revoked", page: 2, pageSize: 10 }),
    request: "GET /v1/contacts?status=revoked&page=2&pageSize=10",
    answer: { items: [contact], totalCount: 11 },
  },
  {
    call: (client) => client.contacts.get("c/1"),
    request: "GET /v1/contacts/c%2F1",
    answer: contact,
  },
  {
    call: (client) => client.contacts.create({ displayName: "A" }, key),
    request: "POST /v1/contacts",
    answer: contact,
    body: { displayName: "A" },
    withKey: true,
  },
  {
    call: (client) => client.contacts.update("c", { netTerms: 30 }),
    request: "PATCH /v1/contacts/c",
    answer: contact,
    body: { netTerms: 30 },
  },
  {
    call: (client) => client.contacts.archive("c", key),
    request: "POST /v1/contacts/c/archive",
    answer: contact,
    withKey: true,
  },
  {
    call: (client) => client.contacts.unarchive("c"),
    request: "POST /v1/contacts/c/unarchive",
    answer: {},
  },
  {
    call: (client) => client.payables.list({ status: "approved" }),
    request: "GET /v1/payables?status=approved",
    answer: { items: [], totalCount: 0 },
  },
  { call: (client) => client.payables.get("b"), request: "GET /v1/payables/b", answer: payable },
  {
    call: (client) => client.payables.create({ totalAmountCents: 1 }, key),
    request: "POST /v1/payables",
    answer: { id: "b" },
    body: { totalAmountCents: 1 },
    withKey: true,
  },
  {
    call: (client) => client.payables.submit("b"),
    request: "POST /v1/payables/b/submit",
    answer: payable,
  },
  {
    call: (client) => client.payments.get("p"),
    request: "GET /v1/payments/p",
    answer: payment("p"),
  },
  {
    call: (client) => client.payments.create({ contactId: "c", amountCents: 5 }, key),
    request: "POST /v1/payments",
    answer: { payableId: "b", payments: [payment("p"), payment("q")] },
    body: { contactId: "c", amountCents: 5 },
    withKey: true,
  },
  {
    call: (client) => client.payments.cancel("p", { reason: "twice" }, key),
    request: "POST /v1/payments/p/cancel",
    answer: { payment: payment("p"), message: "stopped" },
    body: { reason: "twice" },
    withKey: true,
  },
  {
    call: (client) => client.payments.retry("b", key),
    request: "POST /v1/payables/b/retry-payment",
    answer: "whatever it is",
    withKey: true,
  },
  {
    call: (client) => client.bankAccounts.get("ba"),
    request: "GET /v1/bank-accounts/ba",
    answer: { id: "ba", status: "verified" },
  },
  {
    call: (client) => client.webhookEndpoints.create({ url: "http://a", events: ["*"] }),
    request: "POST /v1/webhook-endpoints",
    answer: { id: "we", secret: "whsec_1" },
    body: { url: "http://a", events: ["*"] },
  },
  {
    call: (client) => client.webhookEndpoints.update("we", { status: "active" }, key),
    request: "PATCH /v1/webhook-endpoints/we",
    answer: { id: "we" },
    body: { status: "active" },
    withKey: true,
  },
  {
    call: (client) => client.webhookEndpoints.rotateSecret("we"),
    request: "POST /v1/webhook-endpoints/we/rotate-secret",
    answer: { id: "we", secret: "whsec_2" },
  },
  {
    call: (client) => client.deliveries.list("we", { page: 1 }),
    request: "GET /v1/webhook-endpoints/we/deliveries?page=1",
    answer: { items: [{ id: "d", requestBody: "{}" }], totalCount: 1 },
  },
  {
    call: (client) => client.deliveries.redeliver("we", "d", key),
    request: "POST /v1/webhook-endpoints/we/deliveries/d/redeliver",
    answer: { id: "d2" },
    withKey: true,
  },
];

test.each(calls)("$request is asked as specified", async ({ call, request, answer, ...rest }) => {
  const service = await startService((_received, response) => sendJson(response, 200, answer));
  await call(service.client());
  const [received] = service.received;
  expect(`${received?.method} ${received?.url}`).toBe(request);
  expect(received?.headers["idempotency-key"]).toBe(rest.withKey ? "key" : undefined);
  expect(received?.bodyText).toBe(rest.body === undefined ? "" : JSON.stringify(rest.body));
});

test("deleting a webhook endpoint needs no body in the answer", async () => {
  const service = await startService((_received, response) => void response.writeHead(204).end());
  await service.client().webhookEndpoints.delete("we");
  expect(service.received[0]).toMatchObject({ method: "DELETE", url: "/v1/webhook-endpoints/we" });
});

test("all deliveries of an endpoint can be streamed", async () => {
  const service = await startService((_received, response) =>
    sendJson(response, 200, { items: [{ id: "d1" }, { id: "d2" }], totalCount: 2 }),
  );
  const ids: string[] = [];
  for await (const page of service.client().deliveries.iteratePages("we")) {
    ids.push(...page.map(({ id }) => id));
  }
  expect(ids).toEqual(["d1", "d2"]);
});

test.each(["", ".", ".."])(
  "the id %j is refused, since it would address something else",
  async (id) => {
    const service = await startService(() => undefined);
    expect(() => service.client().payments.get(id)).toThrow("is not an id");
    expect(service.received).toHaveLength(0);
  },
);
