import { expect, test } from "vitest";
import { asColumns, asRecord } from "../../src/store/as-record.ts";

test("a row is read under the names of the code, and otherwise as it is", () => {
  const row = { bank_last4: "6789", opened_at_ms: 5, made_ids: '["p1"]', open: 1, reason: null };
  expect(asRecord(row)).toEqual({
    bankLast4: "6789",
    openedAtMs: 5,
    madeIds: '["p1"]',
    open: 1,
    reason: null,
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

test("what is undefined is left as it stands, and nothing is due a part of a millisecond early", () => {
  expect(asColumns({ reason: undefined, notBeforeMs: 1_000.25, itemNo: 3 })).toEqual({
    not_before_ms: 1_001,
    item_no: 3,
  });
});
