import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { defaultBank } from "../world.ts";
import { at, call } from "./kyb.ts";

const it = sandboxTest("blank");

function withdraw(sandbox: TestSandbox, amount: unknown, fundingSourceId: unknown = "linked_bank") {
  return call(sandbox, "POST", "/withdraw-balance", { amount, fundingSourceId });
}

async function availableCents(sandbox: TestSandbox): Promise<unknown> {
  return (await call(sandbox, "GET", "/balance")).body["availableCents"];
}

it("a business's balance is the one of GET /v1/balance, and needs a scope for balances", async ({
  sandbox,
}) => {
  const answer = await call(sandbox, "GET", "/balance");
  expect(answer.text).toBe((await sandbox.api("GET", "/v1/balance")).text);
  const token = await sandbox.control.token(undefined, { scopes: ["businesses:read"] });
  expect((await sandbox.api("GET", at(sandbox, "/balance"), { token })).status).toBe(403);
});

it("withdraw-balance takes dollars and makes a withdrawal that is exact to the cent", async ({
  sandbox,
}) => {
  const bankAccountId = await defaultBank(sandbox);
  const answer = await withdraw(sandbox, 1_234.29, bankAccountId);
  expect(answer).toMatchObject({
    status: 201,
    body: { type: "withdrawal", status: "pending", amountCents: 123_429, bankAccountId },
  });
  expect(await availableCents(sandbox)).toBe(100_000_000 - 123_429);
  const listed = await sandbox.api<{ items: Json[] }>("GET", "/v1/balance/transactions");
  expect(listed.body.items).toMatchObject([{ id: answer.body["id"] }]);
  await sandbox.control.advance("P7D");
  const ledger = await sandbox.control.ledger();
  const moves = ledger.filter(({ transactionId }) => transactionId === answer.body["id"]);
  expect(moves.map(({ amountCents }) => amountCents)).toContain(123_429);
  expect((await call(sandbox, "GET", "/balance")).body).toMatchObject({
    cashCents: 100_000_000 - 123_429,
    reservedCents: 0,
  });
});

it("withdraw-balance can take all that is available, and not a cent more", async ({ sandbox }) => {
  expect(await withdraw(sandbox, 1_000_000.01)).toMatchObject({
    status: 409,
    body: { error: "insufficient_balance" },
  });
  expect((await withdraw(sandbox, 1_000_000)).status).toBe(201);
  expect(await availableCents(sandbox)).toBe(0);
  expect((await withdraw(sandbox, 0.01)).body).toMatchObject({ error: "insufficient_balance" });
});

it.for([
  [undefined, "linked_bank", 400, "amount"],
  ["12.50", "linked_bank", 400, "amount"],
  [0, "linked_bank", 422, "amount"],
  [-5, "linked_bank", 422, "amount"],
  [0.001, "linked_bank", 422, "amount"],
  [10.005, "linked_bank", 422, "amount"],
  [10.000_000_1, "linked_bank", 422, "amount"],
  [1e300, "linked_bank", 422, "amount"],
  [10, null, 400, "fundingSourceId"],
  [10, "balance", 422, "fundingSourceId"],
])(
  "withdrawing %j to %j is refused with %i, naming %s",
  async ([amount, source, status, field], { sandbox }) => {
    expect(await withdraw(sandbox, amount, source)).toMatchObject({
      status,
      body: { error: "validation_error", details: { field } },
    });
    expect(await availableCents(sandbox)).toBe(100_000_000);
  },
);

it("withdrawing to an unknown funding source returns 404, to an unverified one 422", async ({
  sandbox,
}) => {
  expect(await withdraw(sandbox, 10, "ba_none")).toMatchObject({
    status: 404,
    body: { error: "not_found" },
  });
  await sandbox.control.reset({
    businesses: [
      {
        name: "Company",
        balanceCents: 10_000,
        bankAccounts: [{ id: "ba_new", status: "pending_verification" }],
      },
    ],
  });
  expect(await withdraw(sandbox, 10, "ba_new")).toMatchObject({
    status: 422,
    body: { details: { field: "fundingSourceId" } },
  });
  expect((await withdraw(sandbox, 10)).status).toBe(404);
});

it("a withdrawal that the business's state forbids is refused with the state's error code", async ({
  sandbox,
}) => {
  await sandbox.control.changeBusiness({ paymentsLocked: true });
  expect((await withdraw(sandbox, 10)).body).toMatchObject({ error: "payments_locked" });
  await sandbox.control.changeBusiness({ paymentsLocked: false, setup: "incomplete" });
  expect((await withdraw(sandbox, 10)).body).toMatchObject({ error: "setup_incomplete" });
  await sandbox.control.changeBusiness({ setup: "complete", features: { balance: false } });
  expect((await withdraw(sandbox, 10)).body).toMatchObject({ error: "feature_unavailable" });
  expect(await call(sandbox, "GET", "/balance")).toMatchObject({
    status: 403,
    body: { error: "feature_unavailable" },
  });
  await sandbox.control.reset("unverified");
  for (const answer of [await withdraw(sandbox, 10), await call(sandbox, "GET", "/balance")]) {
    expect(answer.body).toMatchObject({
      error: "setup_required",
      details: { actionUrl: expect.stringMatching(/^https:/) },
    });
  }
});
