import { expect, test } from "vitest";
import { ofBill } from "../../../src/domain/payments/whose.ts";

test("of the payments that are listed for a bill, those that name another one aren't its own, unless Payrun made them for it", () => {
  const listed = [
    { id: "named", payableId: "bill" },
    { id: "unnamed", payableId: null },
    { id: "other", payableId: "other_bill" },
    { id: "made", payableId: "other_bill" },
  ];
  expect(ofBill("bill", listed, ["made"]).map(({ id }) => id)).toEqual([
    "named",
    "unnamed",
    "made",
  ]);
});
