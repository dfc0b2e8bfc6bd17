import { expect } from "vitest";
import type { ApiAnswer, Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { WebhookApi } from "../webhooks/receiver.ts";
import { type BankAccount, controlPost, link, microDeposits, readAccount } from "./accounts.ts";

const it = sandboxTest("blank");

function verify(
  sandbox: TestSandbox,
  id: string,
  amountsCents: unknown,
  key?: string,
): Promise<ApiAnswer<BankAccount & Json>> {
  return sandbox.api("POST", `/v1/bank-accounts/${id}/verify-micro-deposits`, {
    body: { amountsCents },
    ...(key !== undefined && { key }),
  });
}

async function arrived(
  sandbox: TestSandbox,
): Promise<{ id: string; amounts: [number, number]; wrong: number[] }> {
  const { id } = await link(sandbox);
  await sandbox.control.advance("P5D");
  const amounts = await microDeposits(sandbox, id);
  return { id, amounts, wrong: [amounts[0], amounts[1] === 99 ? 98 : amounts[1] + 1] };
}

it("micro-deposits arrive as two credits under $1 on the next banking day", async ({ sandbox }) => {
  await sandbox.control.setClock("2031-06-06T16:00:00Z"); // a Friday
  const { id, microDepositsInitiatedAt } = await link(sandbox);
  expect(Date.parse(microDepositsInitiatedAt ?? "")).toBeGreaterThanOrEqual(
    Date.parse("2031-06-06T16:00:00Z"),
  );
  await sandbox.control.setClock("2031-06-09T12:29:59Z");
  expect((await readAccount(sandbox, id)).microDepositsCompletedAt).toBeNull();
  expect(await sandbox.control.ledger()).toEqual([]);
  await sandbox.control.setClock("2031-06-09T12:30:00Z");
  expect(await readAccount(sandbox, id)).toMatchObject({
    status: "pending_verification",
    microDepositsCompletedAt: "2031-06-09T12:30:00.000Z",
  });
  const ledger = await sandbox.control.ledger();
  const amounts = await microDeposits(sandbox, id);
  expect(ledger).toHaveLength(2);
  expect(ledger.map(({ amountCents }) => amountCents).toSorted((a, b) => a - b)).toEqual(amounts);
  for (const entry of ledger) {
    expect(entry).toMatchObject({
      kind: "credit",
      at: "2031-06-09T12:30:00.000Z",
      paymentId: null,
      transactionId: expect.any(String),
      businessId: sandbox.business.businessId,
    });
    expect(entry.amountCents).toBeGreaterThanOrEqual(1);
    expect(entry.amountCents).toBeLessThan(100);
  }
  expect(new Set(ledger.map(({ transactionId }) => transactionId)).size).toBe(2);
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});

it("the amounts, in either order, verify the account and make it a funding source", async ({
  sandbox,
  receiver,
}) => {
  await new WebhookApi(sandbox).create(receiver.url, ["bank_account.verified"]);
  const { id, amounts } = await arrived(sandbox);
  const sources = async () =>
    (await sandbox.api<{ items: Json[] }>("GET", "/v1/funding-sources")).body.items;
  expect((await sources()).map((source) => source["id"])).not.toContain(id);
  const answer = await verify(sandbox, id, amounts.toReversed());
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ id, status: "verified", verificationAttempts: 0 });
  expect((await sources()).find((source) => source["id"] === id)).toMatchObject({
    rail: "PROVIDER",
    kind: "bank",
    last4: "6789",
    canPay: true,
    pay: { paymentRail: "PROVIDER", bankAccountId: id },
  });
  const [received] = await receiver.until(1);
  expect(received?.event.data).toEqual({ object: "bank_account", id });
});

it("amounts can't be submitted before they have arrived, and such an attempt doesn't count", async ({
  sandbox,
}) => {
  const { id } = await link(sandbox);
  const amounts = await microDeposits(sandbox, id);
  const early = await verify(sandbox, id, amounts, "early");
  expect(early.status).toBe(409);
  expect(early.body).toMatchObject({
    error: "bank_account_not_verifiable",
    details: { status: "pending_verification" },
  });
  expect((await readAccount(sandbox, id)).verificationAttempts).toBe(0);
  await sandbox.control.advance("P5D");
  expect((await verify(sandbox, id, amounts, "early")).body).toMatchObject({ status: "verified" });
});

it("three wrong attempts leave the account pending, and a further one is refused", async ({
  sandbox,
}) => {
  const { id, amounts, wrong } = await arrived(sandbox);
  for (const verificationAttempts of [1, 2, 3]) {
    const answer = await verify(sandbox, id, wrong);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      error: "validation_error",
      details: {
        field: "amountsCents",
        verificationAttempts,
        attemptsLeft: 3 - verificationAttempts,
      },
    });
    expect(await readAccount(sandbox, id)).toMatchObject({
      status: "pending_verification",
      verificationAttempts,
    });
  }
  expect((await verify(sandbox, id, amounts)).status).toBe(409);
});

it("the right amounts at the third attempt verify the account", async ({ sandbox }) => {
  const { id, amounts, wrong } = await arrived(sandbox);
  await verify(sandbox, id, wrong);
  await verify(sandbox, id, wrong);
  expect((await verify(sandbox, id, amounts)).body).toMatchObject({
    status: "verified",
    verificationAttempts: 2,
  });
});

it("a fourth attempt is refused and makes the account unverified, with one event", async ({
  sandbox,
  receiver,
}) => {
  await new WebhookApi(sandbox).create(receiver.url, ["bank_account.verification_failed"]);
  const { id, amounts, wrong } = await arrived(sandbox);
  for (let i = 0; i < 3; i += 1) await verify(sandbox, id, wrong);
  for (const attempt of [wrong, amounts, wrong]) {
    const answer = await verify(sandbox, id, attempt);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      error: "bank_account_not_verifiable",
      details: { status: "unverified" },
    });
    expect(await readAccount(sandbox, id)).toMatchObject({
      status: "unverified",
      verificationAttempts: 3,
    });
  }
  await receiver.until(1);
  const failures = receiver.received.map(({ event }) => event.data.id);
  expect(failures).toEqual([id]);
});

it("a wrong attempt that is resent under its key counts once", async ({ sandbox }) => {
  const { id, wrong } = await arrived(sandbox);
  const first = await verify(sandbox, id, wrong, "attempt");
  const again = await verify(sandbox, id, wrong, "attempt");
  expect(again.text).toBe(first.text);
  expect((await readAccount(sandbox, id)).verificationAttempts).toBe(1);
});

it.for([
  ["nothing", undefined, 400],
  ["one amount", [12], 422],
  ["three amounts", [1, 2, 3], 422],
  ["an amount of a dollar", [100, 1], 422],
  ["nothing at all in one", [0, 1], 422],
  ["dollars", [0.12, 0.34], 422],
  ["texts", ["12", "34"], 400],
])(
  "invalid amounts are refused and don't count as an attempt: %s",
  async ([_, amounts, status], { sandbox }) => {
    const { id } = await arrived(sandbox);
    const answer = await verify(sandbox, id, amounts);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: "validation_error" });
    expect(JSON.stringify(answer.body["details"])).toContain("amountsCents");
    expect((await readAccount(sandbox, id)).verificationAttempts).toBe(0);
  },
);

it("only a pending account can be verified", async ({ sandbox }) => {
  const { body } = await sandbox.api<{ items: BankAccount[] }>("GET", "/v1/bank-accounts");
  const verified = body.items[0]?.id ?? "";
  expect((await verify(sandbox, verified, [1, 2])).body).toMatchObject({
    error: "bank_account_not_verifiable",
    details: { status: "verified" },
  });
  const { id, amounts } = await arrived(sandbox);
  await controlPost(sandbox, `/bank-accounts/${id}`, { status: "removed" });
  expect((await verify(sandbox, id, amounts)).body).toMatchObject({
    details: { status: "removed" },
  });
  expect((await verify(sandbox, "ba_none", [1, 2])).status).toBe(404);
});

it("micro-deposits arrive and verify the account even if the service was killed in between", async ({
  sandbox,
}) => {
  const { id } = await link(sandbox);
  const amounts = await microDeposits(sandbox, id);
  await sandbox.restart("SIGKILL");
  await sandbox.control.advance("P5D");
  expect(await microDeposits(sandbox, id)).toEqual(amounts);
  expect(await sandbox.control.ledger()).toHaveLength(2);
  expect((await verify(sandbox, id, amounts)).body).toMatchObject({ status: "verified" });
});

it("a fixture's pending account gets micro-deposits", async ({ sandbox }) => {
  await sandbox.control.reset({
    businesses: [{ name: "New", bankAccounts: [{ id: "ba_new", status: "pending_verification" }] }],
  });
  await sandbox.control.advance("P5D");
  const amounts = await microDeposits(sandbox, "ba_new");
  expect((await verify(sandbox, "ba_new", amounts)).body).toMatchObject({ status: "verified" });
});
