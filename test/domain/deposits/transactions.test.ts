import { describe, expect, test } from "vitest";
import {
  couldBe,
  depositStands,
  type ShownTransaction,
  depositCents,
} from "../../../src/domain/deposits/transactions.ts";

const asked = { amountCents: 500, bankAccountId: "bank_1" };
const ours = { id: "txn_1", type: "deposit", amountCents: 500, bankAccountId: "bank_1" };

describe("transactions that could be a deposit", () => {
  const idsOf = (found: readonly ShownTransaction[]) => couldBe(asked, found).map(({ id }) => id);

  test("a transaction of the same amount could be the deposit", () => {
    expect(idsOf([ours])).toEqual(["txn_1"]);
    expect(depositCents(ours)).toBe(500);
  });

  test.each([
    ["a withdrawal", { type: "withdrawal" }],
    ["a withdrawal under another name", { type: "BALANCE_WITHDRAWAL" }],
    ["a transaction of another amount", { amountCents: 501 }],
    ["a transaction of another account", { bankAccountId: "bank_2" }],
  ])("the deposit could not be %s", (_, change) => {
    expect(idsOf([{ ...ours, ...change }])).toEqual([]);
  });

  test("a transaction with only an id could be the deposit, but counts no amount", () => {
    expect(idsOf([{ id: "bare" }])).toEqual(["bare"]);
    expect(depositCents({ id: "bare" })).toBe(0);
    expect(depositCents({ id: "bare", amountCents: 500 })).toBe(500);
  });

  test("a payment of the same amount in a list of all transactions is not the deposit", () => {
    const payment = { ...ours, id: "txn_2", type: "vendor_payment" };
    expect(idsOf([payment, ours])).toEqual(["txn_1"]);
    // If no transaction is called a deposit, it may have another name: a person looks.
    expect(idsOf([payment])).toEqual(["txn_2"]);
    expect(depositCents(payment)).toBe(0);
  });
});

test.each([
  ["completed", "completed"],
  ["settled", "completed"],
  ["COMPLETED", "completed"],
  ["posted", "completed"],
  ["reversed", "failed"],
  ["canceled", "failed"],
  ["failed", "failed"],
  ["returned", "failed"],
  ["cancelled", "failed"],
  ["processing", "on-its-way"],
  ["a word of a later version", "on-its-way"],
  [null, "not-shown"],
  [undefined, "not-shown"],
])("a deposit that is %s counts as %s", (status, stands) => {
  expect(depositStands({ id: "txn_1", status })).toBe(stands);
});
