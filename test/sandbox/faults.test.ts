import { expect } from "vitest";
import { sandboxTest } from "./sandbox-test.ts";
import { makeBill, pay, paymentsOf } from "./world.ts";

const it = sandboxTest("blank");

const payments = { method: "POST", path: "/v1/payments" };

it("a fault before a request is handled leaves no effect and the key free", async ({ sandbox }) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([
    { ...payments, when: "before", effect: "status", status: 500, times: 1 },
    { ...payments, when: "before", effect: "drop", times: 1 },
  ]);
  expect((await pay(sandbox, { payableId, amountCents: 1 }, "key")).status).toBe(500);
  await expect(pay(sandbox, { payableId, amountCents: 2 }, "key")).rejects.toThrow("fetch failed");
  expect(await paymentsOf(sandbox, payableId)).toEqual([]);
  expect((await pay(sandbox, { payableId, amountCents: 3 }, "key")).status).toBe(201);
});

it("a payment whose response is dropped is made, and the same key returns its response", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([{ ...payments, when: "after", effect: "drop", times: 1 }]);
  await expect(pay(sandbox, { payableId }, "key")).rejects.toThrow("fetch failed");
  expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
  const again = await pay(sandbox, { payableId }, "key");
  expect(again.status).toBe(201);
  expect(await paymentsOf(sandbox, payableId)).toEqual([
    expect.objectContaining({ id: again.body.payments[0]?.id }),
  ]);
});

it("a response that is cut off is returned whole under the same key", async ({ sandbox }) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([{ ...payments, when: "after", effect: "malformed", times: 1 }]);
  const cut = await pay(sandbox, { payableId }, "key");
  expect(cut.status).toBe(201);
  expect(() => JSON.parse(cut.text) as unknown).toThrow("JSON");
  expect((await pay(sandbox, { payableId }, "key")).text.startsWith(cut.text)).toBe(true);
});

it("a late payment without a claimed key is made after its connection was dropped", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  const late = { ...payments, effect: "late", delayMs: 500, times: 1 } as const;
  await sandbox.control.faults([{ ...late, when: "before" }]);
  await expect(pay(sandbox, { payableId, amountCents: 2 }, "key")).rejects.toThrow("fetch failed");
  expect(await paymentsOf(sandbox, payableId)).toEqual([]);
  await expect.poll(() => paymentsOf(sandbox, payableId)).toHaveLength(1);
  const again = await pay(sandbox, { payableId, amountCents: 2 }, "key");
  expect(again.status).toBe(201);
  expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
});

it("a late payment with a claimed key is a conflict until it is carried out", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  const late = { ...payments, effect: "late", delayMs: 1_500, times: 1 } as const;
  await sandbox.control.faults([{ ...late, when: "during" }]);
  await expect(pay(sandbox, { payableId }, "key")).rejects.toThrow("fetch failed");
  const meanwhile = await pay(sandbox, { payableId }, "key");
  expect([meanwhile.status, meanwhile.body]).toMatchObject([
    409,
    { error: "idempotency_conflict" },
  ]);
  expect(await paymentsOf(sandbox, payableId)).toEqual([]);
  await expect.poll(() => paymentsOf(sandbox, payableId)).toHaveLength(1);
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(201);
  expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
});

it("a fault after a request strikes only if the request had an effect", async ({ sandbox }) => {
  const payableId = await makeBill(sandbox, { status: "draft" });
  await sandbox.control.faults([{ ...payments, when: "after", effect: "status", times: 1 }]);
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(409);
  await sandbox.control.changePayable(payableId, { status: "approved" });
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(500);
});

it("a proxy's error after the effect leaves the service's own response stored", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([
    { ...payments, when: "after", effect: "status", status: 408, times: 1 },
  ]);
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(408);
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(201);
  expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
});

it("faults send Retry-After in turn as seconds and as a date, and a 401 in its own shape", async ({
  sandbox,
}) => {
  await sandbox.control.faults([
    {
      path: "/v1/contacts",
      when: "before",
      effect: "status",
      status: 429,
      retryAfter: 30,
      times: 2,
    },
    { path: "/v1/payables", when: "before", effect: "status", status: 401, times: 1 },
  ]);
  const first = await sandbox.api("GET", "/v1/contacts");
  expect([first.status, first.headers.get("retry-after")]).toEqual([429, "30"]);
  const second = await sandbox.api("GET", "/v1/contacts");
  const wire = Date.parse((await sandbox.control.clock()).wire);
  const waitMs = Date.parse(second.headers.get("retry-after") ?? "") - wire;
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(30_000);
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
  expect(await sandbox.api("GET", "/v1/payables")).toMatchObject({
    status: 401,
    body: { statusCode: 401, message: "Unauthorized" },
  });
});

it("a * in a fault's path matches exactly one segment", async ({ sandbox }) => {
  await sandbox.control.faults([
    { method: "GET", path: "/v1/payables/*", when: "before", effect: "status", status: 503 },
  ]);
  expect((await sandbox.api("GET", "/v1/payables/some%20bill")).status).toBe(503);
  expect((await sandbox.api("GET", "/v1/payables")).status).toBe(200);
  expect((await sandbox.api("POST", "/v1/payables/x/submit")).status).toBe(404);
  await sandbox.control.faults([]);
  expect((await sandbox.api("GET", "/v1/payables/x")).status).toBe(404);
});

it("a fault with a probability hits the same requests again with the same seed", async ({
  sandbox,
}) => {
  const hits = async (seed: number) => {
    await sandbox.control.faults([
      { path: "/v1/contacts", when: "before", effect: "status", probability: 0.5, seed },
    ]);
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      statuses.push((await sandbox.api("GET", "/v1/contacts")).status);
    }
    return statuses;
  };
  const first = await hits(7);
  expect(await hits(7)).toEqual(first);
  expect(await hits(8)).not.toEqual(first);
  const failed = first.filter((status) => status === 500).length;
  expect(failed).toBeGreaterThan(5);
  expect(failed).toBeLessThan(35);
});

it("fault rules and their counters survive a restart", async ({ sandbox }) => {
  await sandbox.control.faults([
    { path: "/v1/contacts", when: "before", effect: "status", status: 503, times: 2 },
  ]);
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(503);
  await sandbox.restart("SIGKILL");
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(503);
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
});

it.for([
  [{ rules: [{ path: "/v1/payments" }] }],
  [{ rules: [{ path: "/v1/payments", when: "later", effect: "drop" }] }],
  [{ rules: [{ path: "/v1/payments", when: "before", effect: "drop", probability: 2 }] }],
  [{ rules: [{ path: "/v1/payments", when: "after", effect: "late" }] }],
  [{ rules: "all" }],
])("invalid fault rules are refused: %j", async ([body], { sandbox }) => {
  const response = await fetch(`${sandbox.url}/sandbox/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect([400, 422]).toContain(response.status);
});
