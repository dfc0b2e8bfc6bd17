import { describe, expect, test } from "vitest";
import { StatementSums } from "../../../src/domain/statement/sums.ts";
import {
  depositLines,
  paymentLines,
  type StatementDeposit,
  type StatementPayment,
} from "../../../src/domain/statement/lines.ts";

const payment = (changes: Partial<StatementPayment>): StatementPayment => ({
  status: "completed",
  amountCents: 100_00,
  scheduledAt: "2026-11-19T14:00:00Z",
  processedAt: "2026-11-23T13:30:00Z",
  updatedAt: "2026-11-23T13:30:00Z",
  failureReason: null,
  ...changes,
});

const brief = (lines: ReturnType<typeof paymentLines>) =>
  lines.map(({ date, entry, account, cents }) => `${date} ${account} ${entry} ${cents}`);

const DEBIT = "2026-11-19 bank_1 debit -10000";

test.each<[string, Partial<StatementPayment>, string[]]>([
  ["settled: one debit", {}, [DEBIT]],
  [
    "settled, of a service that writes its day as midnight UTC",
    { scheduledAt: "2026-11-19T00:00:00.000Z" },
    [DEBIT],
  ],
  ["on its way: one debit", { status: "processing", processedAt: null }, [DEBIT]],
  ["waiting for its date: nothing", { status: "scheduled", processedAt: null }, []],
  ["cancelled in time: nothing", { status: "cancelled", processedAt: null }, []],
  ["bounced", { status: "failed" }, [DEBIT, "2026-11-23 bank_1 return 10000"]],
  [
    "bounced, of a service that says no instant of processing",
    { status: "failed", processedAt: null, failureReason: "Account closed" },
    [DEBIT, "2026-11-23 bank_1 return 10000"],
  ],
  [
    "failed on its date before the bank was asked: nothing",
    {
      status: "failed",
      processedAt: null,
      updatedAt: "2026-11-19T14:00:02Z",
      failureReason: "Insufficient balance",
    },
    [],
  ],
  [
    "failed on its date with the bank's code",
    {
      status: "failed",
      processedAt: null,
      updatedAt: "2026-11-19T20:00:00Z",
      failureReason: "R01 Insufficient funds",
    },
    [DEBIT, "2026-11-19 bank_1 return 10000"],
  ],
  ["returned later", { status: "returned" }, [DEBIT, "2026-11-23 bank_1 return 10000"]],
  ["held by a provider that has debited the bank", { status: "held" }, [DEBIT]],
  ["refunded", { status: "refunded" }, [DEBIT, "2026-11-23 bank_1 refund 10000"]],
  ["in an unknown state, without lines,", { status: "examined" }, []],
])("the statement shows a payment that is %s", (_, changes, lines) => {
  expect(brief(paymentLines(payment(changes), "bank_1", "2026-11-20"))).toEqual(lines);
});

test("a payment from the balance has one line, and none while it is held or once it is refunded", () => {
  expect(brief(paymentLines(payment({}), "balance", "2026-11-20"))).toEqual([
    "2026-11-19 balance debit -10000",
  ]);
  for (const status of ["held", "refunded"]) {
    expect(paymentLines(payment({ status }), "balance", "2026-11-20"), status).toEqual([]);
  }
});

describe("a deposit", () => {
  const deposit = (stands: StatementDeposit["stands"]) =>
    depositLines({
      stands,
      amountCents: 500_00,
      bankAccountId: "bank_1",
      madeOn: "2026-11-16",
      arrivedOn: "2026-11-18",
      changedOn: "2026-12-01",
      reason: "R10",
    });
  const OUT = "2026-11-16 bank_1 debit -50000";
  const IN = "2026-11-18 balance deposit 50000";

  test.each<[StatementDeposit["stands"], string[]]>([
    ["on-its-way", [OUT]],
    ["completed", [OUT, IN]],
    ["failed", [OUT, "2026-12-01 bank_1 return 50000"]],
    [
      "returned",
      [OUT, IN, "2026-12-01 bank_1 return 50000", "2026-12-01 balance deposit-returned -50000"],
    ],
  ])("a deposit that is %s has a line on each statement that it affects", (stands, lines) => {
    expect(brief(deposit(stands))).toEqual(lines);
  });

  test("deposits are summed by account and day, debits apart from credits", () => {
    const days = new StatementSums<{ account: string; date: string }>();
    for (const { account, date, cents } of [
      ...deposit("returned"),
      ...paymentLines(payment({}), "balance", ""),
      { date: "2026-12-01", account: "bank_1", cents: -7 },
    ]) {
      days.add({ account, date }, cents);
    }
    expect(
      days
        .sorted()
        .map((day) => `${day.account} ${day.date} -${day.debitCents} +${day.creditCents}`),
    ).toEqual([
      "balance 2026-11-18 -0 +50000",
      "balance 2026-11-19 -10000 +0",
      "balance 2026-12-01 -50000 +0",
      "bank_1 2026-11-16 -50000 +0",
      "bank_1 2026-12-01 -7 +50000",
    ]);
  });
});
