import { describe, expect, it } from "vitest";
import { cancel, cancelPath, deposit, pay } from "../../src/ledger/operations.ts";
import { payment, TERMS } from "./facts.ts";

const SHOWN = { id: "p1", status: "scheduled", amountCents: 1000 };

describe("what a yes must look like", () => {
  it.each([
    [pay, { payments: [SHOWN, { ...SHOWN, id: "p2" }] }, ["p1", "p2"]],
    [cancel, { payment: SHOWN, message: "done" }, ["p1"]],
    [deposit, { id: "d1" }, ["d1"]],
  ] as const)("$name names what it made", (operation, body, ids) => {
    expect(operation.successIds(body, cancelPath("p1"))).toEqual(ids);
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
  ] as const)("$name in another shape leaves open what happened", (operation, body) => {
    expect(operation.successIds(body, cancelPath("p1"))).toBeNull();
  });
});

describe("what counts as paid no more", () => {
  it.each([
    [pay, ["failed", "returned", "cancelled", "refunded"], ["scheduled", "refund_pending", "odd"]],
    [deposit, ["failed", "returned", "rejected"], ["completed", "pending", "odd"]],
    // A cancel whose payment still stands did nothing.
    [cancel, ["scheduled", "held"], ["cancelled", "refund_pending", "processing", "odd"]],
  ] as const)("of $name is known for sure", (operation, unpaid, standing) => {
    for (const status of unpaid) expect(operation.isUnpaid(payment("p1", { status }))).toBe(true);
    for (const status of standing)
      expect(operation.isUnpaid(payment("p1", { status }))).toBe(false);
  });
});

describe("what is found", () => {
  it("is a payment's whole amount, in one or several, as far as the rest is told", () => {
    const untold = { contactId: null, bankAccountId: null, executionDate: null };
    const halves = [
      payment("p1", { amountCents: 400, ...untold }),
      payment("p2", { amountCents: 600, bankAccountId: "balance" }),
    ];
    expect(pay.judgeFound(TERMS, halves)).toEqual({ kind: "all", ids: ["p1", "p2"] });
    expect(pay.judgeFound(TERMS, halves.slice(1))).toEqual({ kind: "part" });
    expect(pay.judgeFound(TERMS, [])).toEqual({ kind: "none" });
  });

  it("leaves out what can't be ours, and doesn't count it in", () => {
    const other = payment("p2", { contactId: "another" });
    expect(pay.judgeFound(TERMS, [payment("p1"), other])).toEqual({ kind: "all", ids: ["p1"] });
    expect(pay.judgeFound(TERMS, [other])).toEqual({ kind: "part" });
  });

  it("is no check that somebody recorded for the same bill, amount and day", () => {
    const recorded = payment("p2", { rail: null, bankAccountId: null });
    expect(pay.judgeFound(TERMS, [recorded])).toEqual({ kind: "part" });
    expect(pay.judgeFound(TERMS, [recorded, payment("p1")])).toEqual({ kind: "all", ids: ["p1"] });
  });

  it("is the one deposit, from our account where that is told", () => {
    const untold = payment("d2", { bankAccountId: null });
    expect(deposit.judgeFound(TERMS, [untold])).toEqual({ kind: "all", ids: ["d2"] });
    expect(deposit.judgeFound(TERMS, [untold, payment("d1")])).toEqual({
      kind: "all",
      ids: ["d1"],
    });
    expect(deposit.judgeFound(TERMS, [payment("d1"), payment("d3")])).toEqual({ kind: "part" });
    expect(deposit.concerns(TERMS, payment("d4", { amountCents: 1 }))).toBe(false);
    // Nothing tells of how much, so nobody but a person can tell whether it is ours.
    const bare = payment("d5", { amountCents: 0 });
    expect(deposit.concerns(TERMS, bare)).toBe(true);
    expect(deposit.judgeFound(TERMS, [bare])).toEqual({ kind: "part" });
  });
});
