import { expect, test } from "vitest";
import { asColumns, readerOf } from "../../../src/store/sql/as-record.ts";

test("a row is read under the code's names, with JSON and flags decoded", () => {
  const row = { bank_last4: "6789", since_ms: 5, approvers: '["owner"]', late: 1, reason: null };
  expect(readerOf("top_ups")(row)).toEqual({
    bankLast4: "6789",
    sinceMs: 5,
    approvers: ["owner"],
    late: true,
    reason: null,
  });
});

test("columns of other tables are left as they are, and are null if a join found nothing", () => {
  const row = { payment_ids: null, total_count: 1, details: '{"a":1}' };
  expect(readerOf("run_lines")(row)).toEqual({
    paymentIds: null,
    totalCount: 1,
    details: '{"a":1}',
  });
});

test("a change is written under the columns' names: lists as JSON, flags as 0 and 1, null as null", () => {
  expect(asColumns({ bankLast4: null, madeIds: ["p1"], open: true, late: false })).toEqual({
    bank_last4: null,
    made_ids: '["p1"]',
    open: 1,
    late: 0,
  });
});

test("an undefined field is left unchanged, and fractions of a millisecond are rounded up", () => {
  expect(asColumns({ reason: undefined, notBeforeMs: 1_000.25, itemNo: 3 })).toEqual({
    not_before_ms: 1_001,
    item_no: 3,
  });
});
