import { describe, expect } from "vitest";
import { reviewRun } from "../../../activities/runs/review-run.ts";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import { attemptsOf } from "../../../src/ledger/attempts.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { type MoneyWorld, test } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

test.beforeEach(async ({ world }) => {
  await world.world.reset({
    bankAccounts: [{ id: "bank_main", isDefault: true }, { id: "bank_two" }],
  });
  world.achAuthorization = { acceptedBy: "Olga Owner", acceptedAt: "2026-01-02" };
});

const FROM_BANK: Partial<PayRunPlaybook> = { pay: { ...POLICY.pay, from: "bank_main" } };

const bodiesOf = async (world: MoneyWorld, payableId: string) =>
  (await attemptsOf(world.store.db, world.businessId, payableId)).map(
    ({ body }) => JSON.parse(body) as Record<string, unknown>,
  );

describe("a run whose funding source can't pay", () => {
  test("a run whose source can't pay says why and where to fix it, notifies, and pays once it can", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}], FROM_BANK);
    await world.control.changeBankAccount("bank_main", { needsReauth: true });
    await world.pay(runId);
    const said = /“bank_main” can't pay now: .*\(bank_reauth\)\. Fix it at https:\/\/\S+\/sign-in/;
    const now = await world.assess(runId);
    expect(now.waitingFor).toMatch(
      /^1 bill waiting for money in the funding source, the service: /,
    );
    expect(now.waitingFor).toMatch(said);
    // In Temporal's UI it can be read and copied, not clicked.
    expect(now.details).toMatch(/Fix it at `https:\/\/\S+\/sign-in/);
    const line = await world.line(runId, payableId);
    expect(line).toMatchObject({
      state: "planned",
      reasonCode: "funding_short",
      reason: expect.stringMatching(said),
    });
    await world.control.advanceWire("PT90S");
    await reserveMoney(world.context(), runId);
    await world.assess(runId);
    const told = await listNotices(world.store.db, { runId, kind: "business-waits", limit: 5 });
    expect(told).toEqual([expect.objectContaining({ text: expect.stringMatching(said) })]);
    await world.control.changeBankAccount("bank_main", { needsReauth: false });
    await world.pay(runId);
    expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
    expect((await world.assess(runId)).waitingFor).not.toContain("can't pay");
  });

  test("if the playbook says stop, the bills of a run whose source can't pay are parked with the reason", async ({
    world,
  }) => {
    const pay = { ...POLICY.pay, from: "bank_main", whenShort: "stop" as const };
    const { runId, payableId } = await world.approvedRun([{}], { pay });
    await world.control.changeBankAccount("bank_main", { needsReauth: true });
    await world.pay(runId);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reason: expect.stringMatching(/bank_reauth.*have that fixed, then try it again/),
    });
  });

  test("a source that can't pay is not mentioned in runs that pay from another source", async ({
    world,
  }) => {
    const bank = await world.approvedRun([{}], FROM_BANK);
    await world.control.changeBankAccount("bank_main", { needsReauth: true });
    await world.pay(bank.runId);
    const balance = await world.plannedRun([{ contactId: "v2" }]);
    const now = await reviewRun(world.context(), balance.runId);
    expect(now.waitingFor).toBe("1 bill waiting for approval by owner");
  });
});

describe("a payment from an account that was removed after its money was found", () => {
  test.for([1, 30])(
    "no payment leaves from an account that was removed, of %i bills, and their money is missing again",
    async (bills, { world }) => {
      const made = Array.from({ length: bills }, () => ({}));
      const { runId, payableId } = await world.approvedRun(made, FROM_BANK);
      await world.assess(runId);
      expect(await reserveMoney(world.context(), runId)).toEqual({ funded: bills, short: 0 });
      await world.control.changeBankAccount("bank_main", { status: "removed" });
      await world.lane(runId);
      expect(await bodiesOf(world, payableId)).toEqual([]);
      expect(await world.line(runId, payableId)).toMatchObject({ state: "planned", funded: false });
      const said = /“bank_main” can't pay: the service doesn't list it any more/;
      expect((await world.assess(runId)).waitingFor).toMatch(said);
      expect(await reserveMoney(world.context(), runId)).toEqual({ funded: 0, short: bills });
      expect((await world.line(runId, payableId)).reason).toMatch(said);
    },
  );
});

test("a balance payment names today's default account, approved anew, if that of its plan was removed", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.changeBankAccount("bank_main", { status: "removed" });
  await world.pay(runId);
  expect(await bodiesOf(world, payableId)).toEqual([]);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "awaiting-approval",
    reason: expect.stringMatching(/bank account is not one of the business's verified ones/),
  });
  await world.approve(runId);
  await world.pay(runId);
  expect(await bodiesOf(world, payableId)).toEqual([
    expect.objectContaining({ fundingSource: "balance", bankAccountId: "bank_two" }),
  ]);
});
