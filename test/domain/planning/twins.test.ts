import { describe, expect, it } from "vitest";
import type { DecidedBefore } from "../../../src/domain/planning/decided-before.ts";
import type { BillFacts } from "../../../src/domain/planning/book.ts";
import { numberKeys } from "../../../src/domain/planning/bill-numbers.ts";
import { bill, paid, planOf, vendor, type World } from "./fixtures.ts";

const VENDORS = [
  vendor("v1", { name: "Acme Inc", bankLast4: "4321" }),
  vendor("v2", { name: "ACME, Inc.", bankLast4: "8888" }),
  vendor("v3", { name: "Birch Supply", bankLast4: "4321" }),
  vendor("v4", { name: "Cedar", bankLast4: null }),
];

/** The duplicates that the plan flags `b1` for, and what it says of them. */
function flagOf(others: readonly BillFacts[], own: Partial<BillFacts> = {}, rest = {}) {
  const world: World = {
    bills: [bill("b1", { customNumber: "INV-1001", ...own }), ...others],
    vendors: VENDORS,
    ...rest,
  };
  const line = planOf(world, rest).lines.find(({ payableId }) => payableId === "b1");
  return line?.flags.find(({ kind }) => kind === "likely-duplicate");
}

const far = { issueDate: "2026-02-01" };

describe("likely duplicates", () => {
  it("the same number of the same vendor is a duplicate at any amount and date, however it is written", () => {
    for (const customNumber of [
      "INV-1001",
      "inv 01001",
      "INV1001.",
      "Inv/001001",
      "ＩＮＶ－１００１",
    ]) {
      const flag = flagOf([bill("b2", { customNumber, totalCents: 10_001, ...far })]);
      expect(flag?.twins, customNumber).toEqual(["b2"]);
      expect(flag?.text).toContain("Same vendor and number (INV-1001");
      expect(flag?.text).toContain("as bill B-b2 of 2026-02-01 ($100.01, open).");
    }
    for (const customNumber of ["INV-1002", "INV-1001-2", null, " - ", "INV-10010"]) {
      const other = bill("b2", { customNumber, totalCents: 10_001, ...far });
      expect(flagOf([other]), String(customNumber)).toBeUndefined();
    }
    for (const customNumber of ["", "-", "000", null]) {
      const other = bill("b2", { customNumber, totalCents: 10_001, ...far });
      expect(flagOf([other], { customNumber }), String(customNumber)).toBeUndefined();
    }
    expect(numberKeys("2026-007")).toEqual(["2o267", "2o26oo7"]);
  });

  it("letters and digits that look alike, of any script, make no difference to a number", () => {
    for (const [one, other] of [
      ["INV-1001", "INV-1OO1"],
      ["INV-1001", "INV-I00l"],
      ["INV-1001", "ІNV-1ОО1"],
      ["INV-1001", "INV-١٠٠١"],
      ["INV-1001", "INV-१००१"],
      ["INV-1001", "INV-10\u200B01"],
      ["INV-1001", "𝙸𝙽𝚅-𝟷𝟶𝟶𝟷"],
      ["INV-1001", "INV-1O01"],
      ["PO-17", "PO17"],
      ["MODEM-7", "rnodern 7"],
    ] as const) {
      const twin = bill("b2", { customNumber: other, totalCents: 20_000, ...far });
      expect(flagOf([twin], { customNumber: one })?.twins, other).toEqual(["b2"]);
    }
    for (const other of ["INV-1007", "INV-١٠٠٢", "ΣNV-1001", "NV-1001"]) {
      const twin = bill("b2", { customNumber: other, totalCents: 20_000, ...far });
      expect(flagOf([twin]), other).toBeUndefined();
    }
  });

  it("a number with words or a year added is a duplicate only if the amounts are alike", () => {
    const added = ["INV-1001A", "INV-1001-R", "2026-INV-1001", "Inv No. 1001", "1001", "Bill 1001"];
    for (const customNumber of [...added, "INV-1OO1-COPY", "INV-1001/2026"]) {
      const twin = (totalCents: number) => bill("b2", { customNumber, totalCents, ...far });
      expect(flagOf([twin(10_000)])?.twins, customNumber).toEqual(["b2"]);
      expect(flagOf([twin(9_901)])?.text).toContain("Same vendor, and nearly the same number");
      expect(flagOf([twin(10_102)]), customNumber).toBeUndefined();
      expect(flagOf([{ ...twin(10_000), contactId: "v4" }]), customNumber).toBeUndefined();
    }
    // A series: another number, part, year, month or place.
    for (const [one, other] of [
      ["INV-1001", "INV-1002"],
      ["INV-1001-1", "INV-1001-2"],
      ["INV-1001", "INV-1001-2"],
      ["INV-1001-A", "INV-1001-B"],
      ["2025-INV-1001", "2026-INV-1001"],
      ["NYC-2026-11", "BOS-2026-11"],
      ["2026-11", "RENT-2026-11-1"],
      ["A-7", "7"],
    ] as const) {
      const twin = bill("b2", { customNumber: other, ...far });
      expect(flagOf([twin], { customNumber: one }), other).toBeUndefined();
    }
  });

  it("a bill that was rejected or left out is a twin by vendor and nearly the same amount, whatever became of it", () => {
    const by = { decisionId: "d", runId: "r", principal: "ann", roles: [], comment: "FRAUD" };
    const refusal = { how: "rejected" as const, ...by, atMs: Date.parse("2026-11-02T12:00:00Z") };
    const refusals = (...all: (typeof refusal)[]): DecidedBefore =>
      new Map([["b2", { refusals: all, approvals: [] }]]);
    const flagged = (
      changes: Partial<BillFacts>,
      { isRecent = false, before = refusals(refusal) } = {},
    ) => {
      const all = new Set(["b2"]);
      const refused = { all, recent: isRecent ? all : new Set<string>() };
      const twin = bill("b2", { customNumber: "J-1", status: "void", ...changes });
      return flagOf([twin], { customNumber: "K-22" }, { refused, before });
    };
    expect(flagged({})).toEqual({
      kind: "likely-duplicate",
      text: "Vendor and amount are alike to bill B-b2 of 2026-11-01 ($100.00, void). Rejected by ann on 2026-11-02: “FRAUD”.",
      twins: ["b2"],
    });
    expect(flagged({ totalCents: 9_901 })).toBeDefined();
    expect(flagged({ totalCents: 9_899 })).toBeUndefined();
    expect(flagged({ contactId: "v2" })?.text).toContain(
      "of another vendor, ACME, Inc., with the same name",
    );
    expect(flagged({ contactId: "v4" })).toBeUndefined();
    // A bill that is entered again has any date: then the day of the rejection counts.
    expect(flagged({ issueDate: "2026-12-20" })).toBeUndefined();
    expect(flagged({ issueDate: "2026-12-20" }, { isRecent: true })).toBeDefined();
    // It was approved since.
    expect(flagged({}, { before: refusals() })).toBeUndefined();
  });

  it("a bill is compared with paid, scheduled, void and declined ones, and the flag says which it is", () => {
    const twin = (changes: Partial<BillFacts> = {}) =>
      bill("b2", { customNumber: "INV-1001", totalCents: 10_001, ...changes });
    const said = (changes: Partial<BillFacts>, status?: string) => {
      const payments = status === undefined ? [] : [paid("b2", { status })];
      return flagOf([twin(changes)], {}, { payments })?.text;
    };
    expect(said({}, "completed")).toContain("($100.01, paid)");
    expect(said({ amountPaidCents: 10_001 })).toContain("($100.01, paid)");
    expect(said({}, "scheduled")).toContain("($100.01, payment on its way)");
    expect(said({}, "failed")).toContain("($100.01, open)");
    const unreadable = { unreadable: { totalAmountCents: "12.5" }, totalCents: 0 };
    expect(said(unreadable)).toContain("(its amount can't be read, open)");
    expect(said({ status: "void" })).toContain("($100.01, void)");
    expect(said({ status: "declined" })).toContain("($100.01, declined)");
    const by = { decisionId: "d", runId: "r", principal: "ann", roles: [], comment: null };
    const refusals = [{ how: "rejected" as const, ...by, atMs: 1 }];
    const before = new Map([["b2", { refusals, approvals: [] }]]);
    expect(flagOf([twin()], {}, { before })?.text).toContain("($100.01, rejected)");
  });

  it("the same number and amount of another vendor is a duplicate if its name or its account is the same", () => {
    const other = (contactId: string, changes: Partial<BillFacts> = {}) =>
      bill("b2", { contactId, customNumber: "inv1001", ...far, ...changes });
    expect(flagOf([other("v2")])?.text).toBe(
      "Same number (INV-1001, there inv1001) and amount as bill B-b2 of 2026-02-01 ($100.00, open) of another vendor, ACME, Inc., with the same name.",
    );
    expect(flagOf([other("v3")])?.text).toContain(
      "of another vendor, Birch Supply, with the same account ending in 4321.",
    );
    expect(flagOf([other("v4")])).toBeUndefined();
    expect(flagOf([other("v3", { totalCents: 10_001 })])).toBeUndefined();
    expect(flagOf([other("v3", { customNumber: "INV-7" })])).toBeUndefined();
  });

  it("one amount within 30 days is a duplicate; if both bills have a number, only within 7 days", () => {
    const other = (issueDate: string, customNumber: string | null) =>
      bill("b2", { issueDate, customNumber });
    expect(flagOf([other("2026-11-20", null)])?.text).toBe(
      "Same vendor and amount as bill B-b2 of 2026-11-20 ($100.00, open).",
    );
    expect(flagOf([other("2026-12-20", null)])).toBeUndefined();
    expect(flagOf([other("2026-11-08", "INV-2")])?.text).toContain(
      "though the numbers differ (INV-1001, INV-2)",
    );
    expect(flagOf([other("2026-11-09", "INV-2")])).toBeUndefined();
  });

  it("a bill with many twins names the first three and counts the others", () => {
    const twins = Array.from({ length: 5 }, (_, index) =>
      bill(`t${index}`, { customNumber: "INV-1001", totalCents: 20_000 + index }),
    );
    const flag = flagOf(twins);
    expect(flag?.twins).toHaveLength(3);
    expect(flag?.text).toMatch(/And 2 more like it\.$/);
  });

  it("of many twins, those dated nearest are named first, before the bill or after it", () => {
    const twinOn = (day: number) =>
      bill(`day ${day}`, {
        ...{ customNumber: "INV-1001", totalCents: 20_000 },
        issueDate: new Date(Date.UTC(2026, 5, 1 + day)).toISOString().slice(0, 10),
      });
    const days = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => twinOn(from + index));
    const own = { issueDate: "2026-06-01" };
    const around = flagOf([...days(-30, -1), ...days(1, 30)], own);
    expect(around?.twins).toEqual(["day -1", "day 1", "day -2"]);
    expect(around?.text).toMatch(/And 17 more like it\.$/);
    expect(flagOf(days(-30, -1), own)?.twins).toEqual(["day -1", "day -2", "day -3"]);
    expect(flagOf(days(1, 30), own)?.twins).toEqual(["day 1", "day 2", "day 3"]);
    expect(flagOf([...days(-30, -10), twinOn(5)], own)?.twins).toContain("day 5");
  });

  it("a pair that was approved is not flagged again, but approving the first of two says nothing of the second", () => {
    const twin = bill("b2", { customNumber: "INV-1001", totalCents: 10_001 });
    const approved = (id: string, twins: readonly string[], atMs: number): DecidedBefore =>
      new Map([[id, { refusals: [], approvals: [{ atMs, twins }] }]]);
    const flagged = (before: DecidedBefore) => flagOf([twin], {}, { before }) !== undefined;
    expect(flagged(approved("b1", ["b2"], 1))).toBe(false);
    expect(flagged(approved("b1", [], 1))).toBe(true);
    // Only the twin was approved, although this bill was there: nobody has said that both are due.
    expect(flagged(approved("b2", ["b1"], 1))).toBe(true);
    const both = (ownMs: number) =>
      new Map([...approved("b1", [], ownMs), ...approved("b2", ["b1"], 2)]);
    expect(flagged(both(1))).toBe(false);
    expect(flagged(both(3))).toBe(true);
  });
});
