import { describe, expect, test } from "vitest";
import { depositStands, judgeDepositLookUp } from "../../../src/domain/top-ups/transactions.ts";

const asked = { amountCents: 500, bankAccountId: "bank_1" };
const ours = { id: "txn_1", type: "deposit", amountCents: 500, bankAccountId: "bank_1" };
const known = new Set(["old"]);

describe("a look-up at a deposit without an answer", () => {
  test("finds it where one new transaction has its amount", () => {
    expect(judgeDepositLookUp(asked, known, [ours, { ...ours, id: "old" }])).toEqual({
      kind: "adopt",
      transaction: ours,
    });
  });

  test.each([
    ["none is new", [{ ...ours, id: "old" }]],
    ["the new one is a withdrawal", [{ ...ours, type: "withdrawal" }]],
    ["it is one in words of its own", [{ ...ours, type: "BALANCE_WITHDRAWAL" }]],
    ["the new one is of another amount", [{ ...ours, amountCents: 501 }]],
    ["there is none", []],
  ])("finds nothing where %s", (_, found) => {
    expect(judgeDepositLookUp(asked, known, found)).toEqual({ kind: "none" });
  });

  test("takes what is not told for no difference: a person looks before it is sent again", () => {
    expect(judgeDepositLookUp(asked, known, [{ id: "bare" }])).toEqual({
      kind: "unclear",
      transactionIds: ["bare"],
    });
    const found = [{ id: "bare", amountCents: 500 }];
    expect(judgeDepositLookUp(asked, known, found)).toMatchObject({ kind: "adopt" });
  });

  test("is not misled by a payment of the same amount in a list of everything that moved", () => {
    const payment = { ...ours, id: "txn_2", type: "vendor_payment" };
    expect(judgeDepositLookUp(asked, known, [payment, ours])).toMatchObject({
      kind: "adopt",
      transaction: { id: "txn_1" },
    });
    expect(judgeDepositLookUp(asked, known, [payment])).toEqual({
      kind: "unclear",
      transactionIds: ["txn_2"],
    });
  });

  test("leaves several that could be it to a person, unless one alone is of its account", () => {
    const other = { ...ours, id: "txn_2" };
    expect(judgeDepositLookUp(asked, known, [ours, other])).toEqual({
      kind: "unclear",
      transactionIds: ["txn_1", "txn_2"],
    });
    const elsewhere = { ...other, bankAccountId: "bank_2" };
    expect(judgeDepositLookUp(asked, known, [ours, elsewhere])).toMatchObject({
      kind: "adopt",
      transaction: { id: "txn_1" },
    });
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
  [null, "not-told"],
  [undefined, "not-told"],
])("a deposit that is %s counts as %s", (status, stands) => {
  expect(depositStands({ id: "txn_1", status })).toBe(stands);
});
