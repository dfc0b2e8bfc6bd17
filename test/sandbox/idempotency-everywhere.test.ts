import { describe, expect } from "vitest";
import { operations } from "../../src/sandbox/operations.ts";
import type { ApiAnswer, TestSandbox } from "../support/sandbox.ts";
import { sharedSandboxTest } from "./sandbox-test.ts";
import { unique } from "./world.ts";

/** The table of section 7; it doesn't name the writes of `/api` and those that were added later. */
const fromTheSpecification: Readonly<Record<string, "required" | "optional" | "refused">> = {
  "POST /v1/payments": "required",
  "POST /v1/payments/{paymentId}/cancel": "required",
  "POST /v1/payables/{payableId}/retry-payment": "required",
  "POST /v1/balance/deposits": "required",
  "POST /v1/balance/withdrawals": "required",
  "POST /v1/payables": "optional",
  "POST /v1/payables/{payableId}/submit": "optional",
  "POST /v1/contacts": "optional",
  "PATCH /v1/contacts/{contactId}": "optional",
  "POST /v1/contacts/{contactId}/archive": "optional",
  "POST /v1/contacts/{contactId}/unarchive": "optional",
  "POST /v1/invoices": "optional",
  "POST /v1/invoices/{invoiceId}/send": "optional",
  "POST /v1/invoices/{invoiceId}/void": "optional",
  "POST /v1/invoices/{invoiceId}/mark-paid": "optional",
  "POST /v1/invoices/{invoiceId}/payment-link": "optional",
  "PATCH /v1/webhook-endpoints/{webhookEndpointId}": "optional",
  "DELETE /v1/webhook-endpoints/{webhookEndpointId}": "optional",
  "POST /v1/webhook-endpoints/{webhookEndpointId}/deliveries/{deliveryId}/redeliver": "optional",
  "POST /v1/bank-accounts": "optional",
  "POST /v1/bank-accounts/{bankAccountId}/verify-micro-deposits": "optional",
  "POST /v1/webhook-endpoints": "refused",
  "POST /v1/webhook-endpoints/{webhookEndpointId}/rotate-secret": "refused",
};

const moneyWrites = Object.keys(fromTheSpecification).filter(
  (name) => fromTheSpecification[name] === "required",
);

const writes = operations
  .filter(({ method }) => method !== "GET")
  .map((operation) => {
    const { method, path, idempotency, money = false, bodyKind = "json" } = operation;
    // Nothing has these ids, so the response that is stored and replayed is a 404, 400 or 422.
    const target = path.replace(/\{\w+\}/g, "none-such");
    return { name: `${method} ${path}`, method, target, idempotency, money, bodyKind };
  });
type Write = (typeof writes)[number];
const keyed = writes.filter(
  ({ idempotency, bodyKind }) =>
    (idempotency === "required" || idempotency === "optional") && bodyKind === "json",
);
const refusing = writes.filter(
  ({ idempotency, bodyKind }) => idempotency === "refused" && bodyKind === "json",
);

/**
 * Gives the businesses long-lived tokens: each step of five minutes takes a twelfth of the usual
 * life of a token.
 */
async function useLongTokens(sandbox: TestSandbox): Promise<void> {
  for (const business of sandbox.businesses) {
    business.token = await sandbox.control.token(business.businessId, {
      expiresInSeconds: 100_000_000,
    });
  }
}

const it = sharedSandboxTest({ fixture: "two-businesses" }).extend(
  "longTokens",
  { scope: "file", auto: true },
  ({ service }) => useLongTokens(service),
);

function send(
  sandbox: TestSandbox,
  { method, target }: Write,
  key: string | undefined,
  options: { body?: unknown; token?: string } = {},
): Promise<ApiAnswer> {
  return sandbox.api(method, target, { body: {}, ...options, ...(key !== undefined && { key }) });
}

const conflict = { status: 409, body: { error: "idempotency_conflict" } };
const unconfirmed = { status: 409, body: { error: "payment_unconfirmed" } };

/** Expects the operation's own response to a request for something that doesn't exist. */
function expectOwnAnswer({ status }: ApiAnswer): void {
  expect([400, 404, 422]).toContain(status);
}

it("every write treats a key as section 7 says, and only money writes are marked as such", () => {
  for (const { name, idempotency, money } of writes) {
    if (name in fromTheSpecification) expect(idempotency, name).toBe(fromTheSpecification[name]);
    expect(money, name).toBe(moneyWrites.includes(name));
  }
});

describe.each(keyed)("the key of $name", (write) => {
  it("a key may have 64 characters, and may be omitted only if it is optional", async ({
    sandbox,
  }) => {
    const tooLong = await send(sandbox, write, "k".repeat(65));
    expect(tooLong).toMatchObject({ status: 400, body: { error: "validation_error" } });
    expect(tooLong.body["details"]).toMatchObject({ field: "Idempotency-Key" });
    expectOwnAnswer(await send(sandbox, write, unique(write.name).slice(-10).padEnd(64, "k")));
    const without = await send(sandbox, write, undefined);
    expectOwnAnswer(without);
    const needsKey = (without.body["details"] as { field?: string } | undefined)?.field;
    expect(needsKey === "Idempotency-Key").toBe(write.idempotency === "required");
  });

  it("a key replays the first response, to the same request of the same business only", async ({
    sandbox,
  }) => {
    const key = unique("replay");
    const first = await send(sandbox, write, key);
    expectOwnAnswer(first);
    const second = await send(sandbox, write, key, { body: { note: null } });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(await send(sandbox, write, key, { body: { note: "other" } })).toMatchObject(conflict);
    const elsewhere = { ...write, target: `${write.target.replace("none-such", "neither")}` };
    if (elsewhere.target !== write.target) {
      expect(await send(sandbox, elsewhere, key)).toMatchObject(conflict);
    }
    const token = sandbox.businesses[1]?.token ?? "";
    expectOwnAnswer(await send(sandbox, write, key, { body: { note: "other" }, token }));
  });

  it("a dead request's key conflicts for five minutes, then runs again or is unconfirmed", async ({
    sandbox,
  }) => {
    const { method, target: path, money } = write;
    const key = unique("died");
    await sandbox.control.faults([{ method, path, when: "during", effect: "drop", times: 1 }]);
    await expect(send(sandbox, write, key)).rejects.toThrow("fetch failed");
    await sandbox.control.advanceWire("PT4M58S");
    expect(await send(sandbox, write, key)).toMatchObject(conflict);
    await sandbox.control.advanceWire("PT2S");
    for (let again = 0; again < 2; again += 1) {
      const answer = await send(sandbox, write, key);
      if (money) expect(answer).toMatchObject(unconfirmed);
      else expectOwnAnswer(answer);
    }
  });

  it("after a 5xx the key of a money write is unconfirmed, and any other key is free again", async ({
    sandbox,
  }) => {
    const { method, target: path, money } = write;
    const key = unique("failed");
    const fault = { method, path, when: "during", effect: "status", times: 1 } as const;
    await sandbox.control.faults([{ ...fault, status: 503 }]);
    expect((await send(sandbox, write, key)).status).toBe(503);
    const answer = await send(sandbox, write, key);
    if (money) expect(answer).toMatchObject(unconfirmed);
    else expectOwnAnswer(answer);
  });

  it("after a 429 a key is free again, even for another body", async ({ sandbox }) => {
    const { method, target: path } = write;
    const key = unique("limited");
    const fault = { method, path, when: "during", effect: "status", times: 1 } as const;
    await sandbox.control.faults([{ ...fault, status: 429, retryAfter: 1 }]);
    expect((await send(sandbox, write, key)).status).toBe(429);
    expectOwnAnswer(await send(sandbox, write, key, { body: { note: "other" } }));
  });
});

it.for(refusing)("$name refuses a key and names the header", async (write, { sandbox }) => {
  const answer = await send(sandbox, write, unique("refused"));
  expect(answer).toMatchObject({
    status: 400,
    body: { error: "validation_error", details: { field: "Idempotency-Key" } },
  });
});

it("keys survive the service's death in the middle of every write at once", async ({ sandbox }) => {
  await sandbox.control.faults(
    keyed.map(({ method, target: path }) => ({
      method,
      path,
      when: "during",
      effect: "delay",
      delayMs: 600_000,
    })),
  );
  const lost = keyed.map((write) =>
    send(sandbox, write, `killed ${write.name}`.slice(0, 64)).catch(() => 0),
  );
  const running = async (write: Write) =>
    (await send(sandbox, write, `killed ${write.name}`.slice(0, 64))).body["error"];
  for (const write of keyed) {
    await expect.poll(() => running(write)).toBe("idempotency_conflict");
  }
  await sandbox.restart("SIGKILL");
  await Promise.all(lost);
  await sandbox.control.faults();
  for (const write of keyed) expect(await running(write), write.name).toBe("idempotency_conflict");
  await sandbox.control.advanceWire("PT5M");
  for (const write of keyed) {
    const answer = await send(sandbox, write, `killed ${write.name}`.slice(0, 64));
    if (write.money) expect(answer, write.name).toMatchObject(unconfirmed);
    else expectOwnAnswer(answer);
  }
});
