import { describe, expect, it } from "vitest";
import { cancel, cancelPath, deposit, pay } from "../../src/ledger/operations.ts";
import { payment, TERMS } from "./facts.ts";

const SHOWN = { id: "p1", status: "scheduled", amountCents: 1000 };

describe("a 2xx counts as success", () => {
  it.each([
    [pay, { payments: [SHOWN, { ...SHOWN, id: "p2" }] }, ["p1", "p2"]],
    [cancel, { payment: SHOWN, message: "done" }, ["p1"]],
    [deposit, { id: "d1" }, ["d1"]],
  ] as const)("a 2xx to $name names what it made", (operation, body, ids) => {
    expect(operation.made(body, cancelPath("p1"))?.ids).toEqual(ids);
  });

  it.each([
    [pay, { payments: [] }],
    [pay, { payments: [SHOWN, { id: "p2" }] }],
    [pay, { payments: [{ ...SHOWN, id: "" }] }],
    [pay, { payments: [{ ...SHOWN, amountCents: 1.5 }] }],
    [pay, { payments: "p1" }],
    [pay, undefined],
    [cancel, { payment: { ...SHOWN, id: "p2" } }],
    [cancel, { payment: null }],
    [cancel, SHOWN],
    [deposit, { id: "" }],
    [deposit, { transaction: { id: "d1" } }],
    [deposit, ["d1"]],
  ] as const)(
    "a 2xx to $name whose body has an unexpected shape leaves the effect open",
    (operation, body) => {
      expect(operation.made(body, cancelPath("p1"))).toBeNull();
    },
  );
});

describe("effects that count as unpaid", () => {
  it.each([
    [pay, ["failed", "returned", "cancelled", "refunded"], ["scheduled", "refund_pending", "odd"]],
    [deposit, ["failed", "returned", "rejected"], ["completed", "pending", "odd"]],
    // A cancel whose payment still stands did nothing.
    [cancel, ["scheduled", "held"], ["cancelled", "refund_pending", "processing", "odd"]],
  ] as const)(
    "the effect of $name counts as unpaid only in certain states",
    (operation, unpaid, standing) => {
      for (const status of unpaid) expect(operation.isUnpaid(payment("p1", { status }))).toBe(true);
      for (const status of standing)
        expect(operation.isUnpaid(payment("p1", { status }))).toBe(false);
    },
  );
});

describe("finding the effect of a send", () => {
  it("a payment is found by its whole amount, in one payment or several, and its other known fields", () => {
    const untold = { contactId: null, bankAccountId: null, executionDate: null };
    const halves = [
      payment("p1", { amountCents: 400, ...untold }),
      payment("p2", { amountCents: 600, bankAccountId: "balance" }),
    ];
    expect(pay.judgeFound(TERMS, halves)).toEqual({ kind: "all", ids: ["p1", "p2"] });
    expect(pay.judgeFound(TERMS, halves.slice(1))).toEqual({ kind: "part" });
    expect(pay.judgeFound(TERMS, [])).toEqual({ kind: "none" });
  });

  it("payments that can't be ours are neither found nor counted", () => {
    const other = payment("p2", { contactId: "another" });
    expect(pay.judgeFound(TERMS, [payment("p1"), other])).toEqual({ kind: "all", ids: ["p1"] });
    expect(pay.judgeFound(TERMS, [other])).toEqual({ kind: "part" });
  });

  it("a check recorded for the same bill, amount and day is not found", () => {
    const recorded = payment("p2", { rail: null, bankAccountId: null });
    expect(pay.judgeFound(TERMS, [recorded])).toEqual({ kind: "part" });
    expect(pay.judgeFound(TERMS, [recorded, payment("p1")])).toEqual({ kind: "all", ids: ["p1"] });
  });

  it("the only deposit is found, from our account if the service names it", () => {
    const untold = payment("d2", { bankAccountId: null });
    expect(deposit.judgeFound(TERMS, [untold])).toEqual({ kind: "all", ids: ["d2"] });
    expect(deposit.judgeFound(TERMS, [untold, payment("d1")])).toEqual({
      kind: "all",
      ids: ["d1"],
    });
    expect(deposit.judgeFound(TERMS, [payment("d1"), payment("d3")])).toEqual({ kind: "part" });
    expect(deposit.concerns(TERMS, payment("d4", { amountCents: 1 }))).toBe(false);
    // The transaction shows no amount, so only a person can decide whether it is ours.
    const bare = payment("d5", { amountCents: 0 });
    expect(deposit.concerns(TERMS, bare)).toBe(true);
    expect(deposit.judgeFound(TERMS, [bare])).toEqual({ kind: "part" });
  });
});
