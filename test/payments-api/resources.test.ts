import { expect, test } from "vitest";
import { rejection, sendJson, startService } from "./local-service.ts";
import { accounting, calls } from "./resource-calls.ts";

const key = { idempotencyKey: "key" };

test.each(calls)("$request is sent as specified", async ({ call, request, answer, ...rest }) => {
  const service = await startService((_received, response) => sendJson(response, 200, answer));
  await call(service.client());
  const [received] = service.received;
  expect(`${received?.method} ${received?.url}`).toBe(request);
  expect(received?.headers["idempotency-key"]).toBe(rest.withKey ? "key" : undefined);
  expect(received?.bodyText).toBe(rest.body === undefined ? "" : JSON.stringify(rest.body));
});

test("deleting a webhook endpoint needs no body in the response", async () => {
  const service = await startService((_received, response) => void response.writeHead(204).end());
  await service.client().webhookEndpoints.delete("we");
  expect(service.received[0]).toMatchObject({ method: "DELETE", url: "/v1/webhook-endpoints/we" });
});

test("disconnecting the accounting system needs no body in the response", async () => {
  const service = await startService((_received, response) => void response.writeHead(204).end());
  await service.client().accounting.disconnect("b");
  expect(service.received[0]).toMatchObject({
    method: "DELETE",
    url: `${accounting}/disconnect`,
  });
});

test.each([0, -1, 0.001, 10.005, Number.NaN, Number.POSITIVE_INFINITY])(
  "a withdrawal of %d dollars is refused by the client",
  async (amountDollars) => {
    const service = await startService(() => undefined);
    const withdrawal = { amountDollars, fundingSourceId: "f" };
    expect(() => service.client().businesses.withdrawBalance("b", withdrawal)).toThrow(
      "two decimals",
    );
    expect(service.received).toHaveLength(0);
  },
);

test("a proxy's page instead of a response without a specified shape leaves the outcome unknown", async () => {
  const service = await startService(
    (_received, response) => void response.writeHead(200).end("<h1>Welcome</h1>"),
  );
  const deposit = service.client().balance.deposit({ amountCents: 1, bankAccountId: "ba" }, key);
  expect(await rejection(deposit)).toMatchObject({ outcome: "unknown", status: 200 });
});

test("an empty response without a specified shape counts as success", async () => {
  const service = await startService((_received, response) => void response.writeHead(201).end());
  const added = service.client().verification.submitTaxInfo("b", { ein: "12-3456789" });
  expect(await added).toBeUndefined();
});

test("all deliveries of a webhook endpoint can be streamed", async () => {
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
