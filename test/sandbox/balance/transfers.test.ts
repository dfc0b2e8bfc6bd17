import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { mondayTest } from "../sandbox-test.ts";
import { defaultBank, makeBill, type Page, pay, unique } from "../world.ts";
import { send, type Transfer } from "./send.ts";

const openingCents = 100_000_000;

const it = mondayTest().extend("bankAccountId", ({ sandbox }) => defaultBank(sandbox));

async function transfers(sandbox: TestSandbox, query = ""): Promise<Transfer[]> {
  const { body } = await sandbox.api<Page<Transfer>>("GET", `/v1/balance/transactions?${query}`);
  return body.items;
}

async function only(sandbox: TestSandbox): Promise<Transfer> {
  const [first, second] = await transfers(sandbox);
  if (first === undefined || second !== undefined) throw new Error("not one transfer");
  return first;
}

async function balance(sandbox: TestSandbox): Promise<Record<string, unknown>> {
  return (await sandbox.api("GET", "/v1/balance")).body;
}

async function moves(sandbox: TestSandbox): Promise<unknown[]> {
  const ledger = await sandbox.control.ledger();
  return ledger.map(({ kind, amountCents, transactionId }) => [kind, amountCents, transactionId]);
}

/** Turns same-day ACH off, so that a test can observe each step. */
async function standardOnly(sandbox: TestSandbox): Promise<void> {
  await sandbox.control.changeBusiness({ features: { acceleratedClearing: false } });
}

describe("a deposit", () => {
  it("a deposit is pending inbound until it settles after two banking days, then it is cash", async ({
    sandbox,
    bankAccountId,
  }) => {
    await standardOnly(sandbox);
    const answer = await send(sandbox, bankAccountId, "deposits", { amountCents: 25_000 });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        id: expect.any(String),
        type: "deposit",
        status: "pending",
        amountCents: 25_000,
        bankAccountId,
        sameDay: false,
        failureReason: null,
        processedAt: null,
      },
    });
    const onItsWay = {
      cashCents: openingCents,
      availableCents: openingCents,
      pendingInboundCents: 25_000,
    };
    expect(await balance(sandbox)).toMatchObject(onItsWay);
    await sandbox.control.advance("PT1M");
    expect((await only(sandbox)).status).toBe("processing");
    expect(await balance(sandbox)).toMatchObject(onItsWay);
    await sandbox.control.setClock("2029-03-14T12:30:00Z");
    expect(await only(sandbox)).toMatchObject({
      status: "completed",
      processedAt: "2029-03-14T12:30:00.000Z",
    });
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents + 25_000,
      availableCents: openingCents + 25_000,
      pendingInboundCents: 0,
    });
    expect(await moves(sandbox)).toEqual([
      ["debit", 25_000, answer.body.id],
      ["credit", 25_000, answer.body.id],
    ]);
  });

  it("a deposit that bounces with R01 returns its debit and never reaches the balance", async ({
    sandbox,
    bankAccountId,
  }) => {
    await sandbox.control.outcome({ match: { bankAccountId }, outcome: "fail" });
    await send(sandbox, bankAccountId, "deposits", { amountCents: 700 });
    await sandbox.control.advance("P3D");
    expect(await only(sandbox)).toMatchObject({
      status: "failed",
      failureReason: "R01 Insufficient funds",
    });
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents,
      pendingInboundCents: 0,
    });
    expect((await moves(sandbox)).map((move) => (move as string[])[0])).toEqual([
      "debit",
      "return",
    ]);
  });

  it("a return of a deposit waits until the balance can cover it", async ({
    sandbox,
    bankAccountId,
  }) => {
    await sandbox.control.changeBusiness({ balanceCents: 0 });
    const { body } = await send(sandbox, bankAccountId, "deposits", { amountCents: 90_000 });
    await sandbox.control.outcome({
      match: { transactionId: body.id },
      outcome: "return",
      code: "R10",
    });
    await sandbox.control.setClock("2029-03-12T21:00:00Z");
    expect((await only(sandbox)).status).toBe("completed");
    await pay(sandbox, { payableId: await makeBill(sandbox, { totalAmountCents: 60_000 }) });
    await sandbox.control.advance("P4D");
    expect((await only(sandbox)).status).toBe("completed");
    await send(sandbox, bankAccountId, "deposits", { amountCents: 60_000 });
    await sandbox.control.advance("P4D");
    expect((await transfers(sandbox)).map(({ status }) => status)).toEqual([
      "completed",
      "returned",
    ]);
    expect(await balance(sandbox)).toMatchObject({ cashCents: 0 });
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
  });
});

describe("a withdrawal", () => {
  it("a withdrawal is first reserved, then pending outbound, then settled", async ({
    sandbox,
    bankAccountId,
  }) => {
    await standardOnly(sandbox);
    const { body } = await send(sandbox, bankAccountId, "withdrawals", { amountCents: 40_000 });
    expect(body).toMatchObject({ type: "withdrawal", status: "pending" });
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents,
      reservedCents: 40_000,
      availableCents: openingCents - 40_000,
    });
    await sandbox.control.advance("PT1M");
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents - 40_000,
      reservedCents: 0,
      pendingOutboundCents: 40_000,
    });
    await sandbox.control.advance("P3D");
    expect((await only(sandbox)).status).toBe("completed");
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents - 40_000,
      pendingOutboundCents: 0,
    });
  });

  it("a withdrawal that the bank account refuses, at once or later, returns to the balance", async ({
    sandbox,
    bankAccountId,
  }) => {
    await sandbox.control.outcome({ match: { bankAccountId }, outcome: "fail", code: "R02" });
    await send(sandbox, bankAccountId, "withdrawals", { amountCents: 500 });
    await sandbox.control.advance("P3D");
    const { body } = await send(sandbox, bankAccountId, "withdrawals", { amountCents: 800 });
    await sandbox.control.outcome({
      match: { transactionId: body.id },
      outcome: "return",
      code: "R16",
      after: "P5D",
    });
    await sandbox.control.advance("P3D");
    expect((await transfers(sandbox)).map(({ status }) => status)).toEqual(["completed", "failed"]);
    await sandbox.control.advance("P10D");
    expect(await transfers(sandbox)).toMatchObject([
      { status: "returned", failureReason: "R16 Account frozen" },
      { status: "failed", failureReason: "R02 Account closed" },
    ]);
    expect(await balance(sandbox)).toMatchObject({
      cashCents: openingCents,
      pendingOutboundCents: 0,
    });
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
  });

  it("a withdrawal can take exactly what is available, and not a cent more", async ({
    sandbox,
    bankAccountId,
  }) => {
    const key = unique("all");
    expect(
      await send(sandbox, bankAccountId, "withdrawals", { amountCents: openingCents + 1 }, key),
    ).toMatchObject({
      status: 409,
      body: { error: "insufficient_balance", details: { availableCents: openingCents } },
    });
    await sandbox.control.changeBusiness({ balanceCents: openingCents + 1 });
    expect(
      (await send(sandbox, bankAccountId, "withdrawals", { amountCents: openingCents + 1 }, key))
        .status,
    ).toBe(201);
    expect(await send(sandbox, bankAccountId, "withdrawals", { amountCents: 1 })).toMatchObject({
      status: 409,
      body: { error: "insufficient_balance" },
    });
  });

  it("a withdrawal fails if the balance is emptied before it is submitted", async ({
    sandbox,
    bankAccountId,
  }) => {
    await send(sandbox, bankAccountId, "withdrawals", { amountCents: 5_000 });
    await sandbox.control.changeBusiness({ balanceCents: 4_999 });
    await sandbox.control.advance("P1D");
    expect(await only(sandbox)).toMatchObject({
      status: "failed",
      failureReason: "Insufficient balance",
    });
    expect(await sandbox.control.health()).toMatchObject({ ok: true });
  });
});

describe("same-day ACH (API specification, section 8)", () => {
  it("a transfer up to the balance's maximum settles the same day, a larger one by standard ACH", async ({
    sandbox,
    bankAccountId,
  }) => {
    const { sameDayAch } = await balance(sandbox);
    expect(sameDayAch).toEqual({ inbound: true, outbound: true, maxAmountCents: 100_000_000 });
    await send(sandbox, bankAccountId, "deposits", { amountCents: 100_000_000 });
    await send(sandbox, bankAccountId, "deposits", { amountCents: 100_000_001 });
    expect((await transfers(sandbox)).map(({ sameDay }) => sameDay)).toEqual([false, true]);
    await sandbox.control.setClock("2029-03-12T21:00:00Z");
    expect((await transfers(sandbox)).map(({ status }) => status)).toEqual([
      "processing",
      "completed",
    ]);
    await sandbox.control.setClock("2029-03-14T12:30:00Z");
    expect((await transfers(sandbox)).map(({ status }) => status)).toEqual([
      "completed",
      "completed",
    ]);
  });

  it("a same-day transfer submitted after 2:45 PM settles on the next banking day", async ({
    sandbox,
    bankAccountId,
  }) => {
    await sandbox.control.setClock("2029-03-16T18:45:00Z");
    await send(sandbox, bankAccountId, "withdrawals", { amountCents: 100 });
    await sandbox.control.setClock("2029-03-19T12:29:00Z");
    expect((await only(sandbox)).status).toBe("processing");
    await sandbox.control.setClock("2029-03-19T12:30:00Z");
    expect((await only(sandbox)).status).toBe("completed");
  });

  it("same-day ACH is off if accelerated clearing is off", async ({ sandbox, bankAccountId }) => {
    await standardOnly(sandbox);
    expect((await balance(sandbox))["sameDayAch"]).toMatchObject({
      inbound: false,
      outbound: false,
    });
    expect(
      (await send(sandbox, bankAccountId, "deposits", { amountCents: 100 })).body.sameDay,
    ).toBe(false);
  });
});

describe("the list of balance transactions", () => {
  it("transfers are listed newest first and filtered, for the caller's business only", async ({
    sandbox,
    bankAccountId,
  }) => {
    const ids: string[] = [];
    for (const kind of ["deposits", "withdrawals", "deposits"] as const) {
      ids.unshift((await send(sandbox, bankAccountId, kind, { amountCents: 5 })).body.id);
    }
    expect((await transfers(sandbox)).map(({ id }) => id)).toEqual(ids);
    expect((await transfers(sandbox, "page=2&pageSize=2")).map(({ id }) => id)).toEqual(
      ids.slice(2),
    );
    expect((await transfers(sandbox, "type=withdrawal")).map(({ id }) => id)).toEqual([ids[1]]);
    expect(await transfers(sandbox, "status=completed")).toEqual([]);
    expect(await transfers(sandbox, `bankAccountId=${bankAccountId}&status=pending`)).toHaveLength(
      3,
    );
    expect(await transfers(sandbox, "createdAfter=2029-03-13T00:00:00Z")).toEqual([]);
    expect(await transfers(sandbox, "createdBefore=2029-03-13T00:00:00Z")).toHaveLength(3);
    const refused = await sandbox.api("GET", "/v1/balance/transactions?type=gift");
    expect(refused).toMatchObject({ status: 422, body: { details: { field: "type" } } });
    await sandbox.control.reset("two-businesses");
    expect(await transfers(sandbox)).toEqual([]);
  });

  it("the list finds a deposit whose response was lost and whose key is unconfirmed", async ({
    sandbox,
    bankAccountId,
  }) => {
    await sandbox.control.faults([
      { path: "/v1/balance/deposits", when: "after", effect: "status", status: 500, times: 1 },
    ]);
    const key = unique("lost");
    expect((await send(sandbox, bankAccountId, "deposits", { amountCents: 5 }, key)).status).toBe(
      500,
    );
    expect(await send(sandbox, bankAccountId, "deposits", { amountCents: 5 }, key)).toMatchObject({
      status: 409,
      body: { error: "payment_unconfirmed" },
    });
    expect(await only(sandbox)).toMatchObject({ amountCents: 5, type: "deposit" });
    expect(await send(sandbox, bankAccountId, "deposits", { amountCents: 6 }, key)).toMatchObject({
      status: 409,
      body: { error: "idempotency_conflict" },
    });
  });
});

it("transfers and their remaining steps survive a restart of the sandbox", async ({
  sandbox,
  bankAccountId,
}) => {
  await send(sandbox, bankAccountId, "withdrawals", { amountCents: 100 });
  await sandbox.restart("SIGKILL");
  await sandbox.control.advance("P3D");
  expect((await only(sandbox)).status).toBe("completed");
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});
