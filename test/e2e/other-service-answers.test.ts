import { describe, expect, test, vi } from "vitest";
import { isLong } from "../support/long.ts";
import { eachOnce, type OtherPayrun, otherStacks } from "../support/other-payrun.ts";
import type { OtherPayable } from "../support/other-service/book.ts";
import type { Mishap } from "../support/other-service.ts";
import { eventually } from "../support/waits.ts";

// Real clocks can't be accelerated: a wait of the business doubles with every try.
vi.setConfig({ testTimeout: 150_000 });

const start = otherStacks();

const ON_THEIR_WAY = ["scheduled", "processing", "settled"] as const;

/** Lets the bank settle everything, and compares the service's own book with the bills. */
async function expectPaidOnce(
  payrun: OtherPayrun,
  runId: string,
  made: readonly OtherPayable[],
): Promise<void> {
  await payrun.untilAll(runId, ON_THEIR_WAY, 90_000);
  await payrun.service.settleAll();
  const done = await payrun.untilPhase(runId, "completed");
  expect(done.counts).toEqual({ settled: made.length });
  expect(payrun.service.book.paidCents()).toEqual(eachOnce(made));
}

// The short form of these tests is other-service.test.ts.
describe.runIf(isLong)("paying each bill once with odd answers of the service", () => {
  const groups: readonly (readonly [string, readonly Mishap[]])[] = [
    [
      "something in front of the service answers with pages of its own, 408 and redirects",
      ["html-502-before", "408-before", "302-before", "drop-before"],
    ],
    [
      "the service pays, and its answer is lost, cut off or replaced by a page",
      ["drop-after", "cut-off-after", "html-502-after"],
    ],
    ["the service pays and answers 500", ["500-after"]],
    ["the service dies with the key in hand and the payment made", ["dies-after"]],
    ["the service asks to slow down", ["429-before"]],
  ];
  test.each(groups)("each bill is paid once if %s", async (_name, mishaps) => {
    const payrun = await start();
    payrun.service.mishaps.push(...mishaps);
    const { runId, made } = await payrun.approvedRun(mishaps.map((_each, index) => 100_00 + index));
    await expectPaidOnce(payrun, runId, made);
    expect(payrun.service.mishaps).toEqual([]);
  });

  test.each([true, false])(
    "each bill is paid once if the token gets its scope only later, and a stored refusal is %s",
    async (storesAuthFailures) => {
      const payrun = await start({ storesAuthFailures });
      payrun.service.operations.forbidding = 403;
      const { runId, made } = await payrun.approvedRun([100_00, 200_00]);
      const forbidden = ({ waitingFor }: { waitingFor: string | null }): boolean =>
        waitingFor?.includes("403") === true;
      await payrun.until(runId, "waiting for the scope", forbidden);
      payrun.service.operations.forbidding = undefined;
      await expectPaidOnce(payrun, runId, made);
    },
  );

  test.each([400, 422] as const)(
    "each bill is paid once if the balance is short for a while, reported with status %s",
    async (refusalStatus) => {
      const payrun = await start({ refusalStatus });
      payrun.service.operations.refusing = "insufficient_balance";
      const { runId, made } = await payrun.approvedRun([100_00]);
      const waiting = ({ waitingFor }: { waitingFor: string | null }): boolean =>
        waitingFor?.includes("insufficient balance") === true;
      await payrun.until(runId, "waiting for money", waiting);
      payrun.service.operations.refusing = undefined;
      await expectPaidOnce(payrun, runId, made);
    },
  );

  test("a bill that the service wants approved again is paid once after the approval's event", async () => {
    const payrun = await start({ refusalStatus: 400 });
    payrun.service.operations.refusing = "approval_required";
    const { runId, made } = await payrun.approvedRun([100_00]);
    await payrun.untilAll(runId, ["on-hold"]);
    payrun.service.operations.refusing = undefined;
    await payrun.service.event("payable.approved", made[0]?.id ?? "");
    await expectPaidOnce(payrun, runId, made);
  });

  test("a bill with a refusal stored under its key is paid once by a person's retry after the cause is gone", async () => {
    const payrun = await start({ storesAuthFailures: true });
    payrun.service.operations.forbidding = 404;
    const { runId, made } = await payrun.approvedRun([100_00]);
    const id = made[0]?.id ?? "";
    await payrun.untilAll(runId, ["parked"]);
    const writes = payrun.service.writes.length;
    await payrun.resolve(id, "retry");
    await payrun.service.untilWrites(writes + 1);
    await payrun.untilAll(runId, ["parked"]);
    payrun.service.operations.forbidding = undefined;
    await payrun.resolve(id, "retry");
    await expectPaidOnceByRetry(payrun, runId, made);
    // Each try sends the old key once more, and one new key.
    expect(payrun.service.writes.length).toBeLessThanOrEqual(writes + 4);
  });

  test("each bill is paid once if the last event is lost", async () => {
    const payrun = await start();
    const { runId, made } = await payrun.approvedRun([100_00]);
    await payrun.untilAll(runId, ["scheduled"]);
    payrun.service.webhookUrl = undefined;
    await payrun.service.settleAll();
    await payrun.untilPhase(runId, "completed");
    expect(payrun.service.book.paidCents()).toEqual(eachOnce(made));
  });
});

describe.runIf(isLong)("a failed payment, with or without the service's retry-payment", () => {
  test("a failed payment is paid again once on its day if the service has no retry-payment", async () => {
    const payrun = await start({ retryPayment: "unsupported", amountPaidMoves: "at-settlement" });
    const { runId, made } = await payrun.approvedRun([100_00]);
    await payrun.untilAll(runId, ["scheduled"]);
    const [payment] = payrun.service.open();
    await payrun.service.fail(payment?.id ?? "", "R01 - Insufficient Funds (NSF)");
    await payrun.untilAll(runId, ["retrying"]);
    await retryDayHasCome(payrun, made[0]?.id ?? "");
    await expectPaidOnceByRetry(payrun, runId, made);
    expect(payrun.service.writes.map(({ path }) => path)).toEqual(["v1/payments", "v1/payments"]);
  });

  test("a failed payment that no retry can fix is parked with what to do, and a person gives it up", async () => {
    const payrun = await start({ ids: "odd" });
    const { runId, made } = await payrun.approvedRun([100_00, 200_00]);
    await payrun.untilAll(runId, ["scheduled"]);
    const [failing, fine] = payrun.service.open();
    await payrun.service.fail(failing?.id ?? "", "R02: account closed");
    await payrun.service.settle(fine?.id ?? "");
    const done = await payrun.untilPhase(runId, "completed-with-exceptions");
    expect(done.counts).toEqual({ parked: 1, settled: 1 });
    const id = failing?.payableId ?? "";
    const parked = done.payments.find(({ payableId }) => payableId === id);
    expect(parked?.reason).toContain("Ask the vendor");
    const history = await payrun.call(
      "operator",
      "GET",
      `/v1/payables/${encodeURIComponent(id)}/history`,
    );
    expect(history.status).toBe(200);
    await payrun.resolve(id, "give-up");
    await payrun.until(runId, "given up", ({ counts }) => counts["given-up"] === 1);
    expect([...payrun.service.book.paidCents().keys()]).toEqual([fine?.payableId]);
    expect(made).toHaveLength(2);
  });

  test("a payment that is returned after it had settled is parked and not paid again", async () => {
    const payrun = await start();
    const { runId } = await payrun.approvedRun([100_00]);
    await payrun.untilAll(runId, ["scheduled"]);
    const [payment] = payrun.service.open();
    const id = payment?.id ?? "";
    await payrun.service.settle(id);
    await payrun.untilPhase(runId, "completed");
    const returned = { status: "returned", failureReason: "R03 No Account" };
    await payrun.service.move(id, returned, "payable.payment.reversed");
    await payrun.untilAll(runId, ["parked"]);
    expect(payrun.service.book.payments).toHaveLength(1);
  });
});

/**
 * Moves the awaited retry day into the past, because a real clock can't jump to the next banking
 * day.
 */
async function retryDayHasCome(payrun: OtherPayrun, payableId: string): Promise<void> {
  const waiting = async (): Promise<boolean> => {
    const row = await payrun.store.db
      .selectFrom("retries")
      .select("retry_on")
      .where("payable_id", "=", payableId)
      .executeTakeFirst();
    return typeof row?.retry_on === "string";
  };
  await eventually(`the retry of ${payableId} has its day`, waiting);
  await payrun.store.db
    .updateTable("retries")
    .set({ retry_on: "2026-01-02" })
    .where("payable_id", "=", payableId)
    .execute();
  await payrun.service.event("payable.approved", payableId);
}

async function expectPaidOnceByRetry(
  payrun: OtherPayrun,
  runId: string,
  made: readonly OtherPayable[],
): Promise<void> {
  await payrun.service.untilOpen();
  await payrun.service.settleAll();
  await payrun.untilAll(runId, ["settled"]);
  expect(payrun.service.book.paidCents()).toEqual(eachOnce(made));
}
