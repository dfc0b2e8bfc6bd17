import { describe, expect, it } from "vitest";
import type { BillFacts, VendorFacts } from "../../../src/domain/planning/book.ts";
import {
  claimedElsewhere,
  mayBePaid,
  type SelectInput,
} from "../../../src/domain/planning/select.ts";
import { bill, paid, PLAYBOOK, selection, vendor, type World } from "./fixtures.ts";

function codeOf(world: World, changes: Partial<SelectInput> = {}): string {
  const { selected, skipped } = selection(world, changes);
  expect(selected.length + skipped.length).toBe(world.bills.length);
  return skipped[0]?.code ?? "selected";
}

const one = (changes: Partial<BillFacts>, who: Partial<VendorFacts> = {}): World => ({
  bills: [bill("b1", changes)],
  vendors: [vendor("v1", who)],
});

describe("selecting bills", () => {
  it("a run selects approved bills that would be late if they waited for the next run", () => {
    // The next run fires on the 25th (the 26th is Thanksgiving), pays on the 27th and arrives on
    // the 2nd.
    expect(codeOf(one({ dueDate: "2026-12-01" }))).toBe("selected");
    expect(codeOf(one({ dueDate: "2026-12-02" }))).toBe("not_due");
  });

  it("a run selects overdue bills, however old", () => {
    expect(codeOf(one({ dueDate: "2025-01-01" }))).toBe("selected");
  });

  it("a run selects bills due within some days, the last one included", () => {
    const playbook = { ...PLAYBOOK, select: { due: "within", days: 7 } as const };
    expect(codeOf(one({ dueDate: "2026-11-26" }), { playbook })).toBe("selected");
    expect(codeOf(one({ dueDate: "2026-11-27" }), { playbook })).toBe("not_due");
  });

  it("a run selects a bill without a due date only with “due: all”", () => {
    const playbook = { ...PLAYBOOK, select: { due: "all" } as const };
    expect(codeOf(one({ dueDate: null }))).toBe("no_due_date");
    expect(codeOf(one({ dueDate: null }), { playbook })).toBe("selected");
    expect(codeOf(one({ dueDate: "2030-01-01" }), { playbook })).toBe("selected");
  });

  it.each([
    { status: "draft" },
    { status: "void" },
    { amountPaidCents: 10_000 },
    { totalCents: 0 },
    { status: "", totalCents: 0, unreadable: { status: "a list" } },
  ])("a condition is not asked about a bill that can't be paid, %o", (changes) => {
    const matches = (): never => {
      throw new Error("it was asked");
    };
    const playbook = { ...PLAYBOOK, where: "true" };
    expect(mayBePaid(bill("b1", changes))).toBe(false);
    expect(codeOf(one(changes), { playbook, matches })).not.toBe("selected");
  });

  it.each([
    ["draft", "not_approved"],
    ["pending_approval", "not_approved"],
    ["a_status_of_tomorrow", "not_approved"],
    ["declined", "declined"],
    ["blocked", "blocked"],
    ["void", "void"],
  ])("a run leaves out a bill that is %s", (status, code) => {
    expect(codeOf(one({ status }))).toBe(code);
  });

  it("a run pays the part of a bill that is neither paid nor on its way", () => {
    const payments = [
      paid("b1", { amountCents: 1_000 }),
      paid("b1", { amountCents: 2_500, status: "scheduled" }),
      paid("b1", { amountCents: 9_000, status: "failed" }),
    ];
    const { selected } = selection({ bills: [bill("b1")], payments });
    expect(selected[0]?.amountCents).toBe(6_500);
  });

  it("a run leaves out bills that are paid or completely on their way, each with its reason", () => {
    expect(codeOf({ bills: [bill("b1")], payments: [paid("b1")] })).toBe("paid");
    const moving = { bills: [bill("b1")], payments: [paid("b1", { status: "held" })] };
    expect(codeOf(moving)).toBe("already_on_its_way");
    expect(selection(moving).skipped[0]?.text).toContain("$100.00");
  });

  it("a run leaves out bills whose vendor can't be paid", () => {
    expect(codeOf(one({}, { paymentReady: false }))).toBe("vendor_not_payable");
    expect(codeOf(one({}, { status: "archived" }))).toBe("vendor_not_payable");
    expect(codeOf(one({ contactId: "revoked" }))).toBe("vendor_not_payable");
    expect(codeOf(one({ contactId: null }))).toBe("no_vendor");
  });

  it.each([
    ["payable", "b1"],
    ["contact", "v1"],
    ["source", "balance"],
    ["playbook", "weekly"],
    ["all", ""],
  ])("a run leaves out a bill with a hold on its %s", (scope, value) => {
    const holds = [{ scope, value, reason: "wait for the lawyer" }];
    expect(codeOf(one({}), { holds })).toBe("on_hold");
    const other = [{ scope: "payable", value: "b2", reason: "another" }];
    expect(codeOf(one({}), { holds: other })).toBe("selected");
  });

  it("the playbook's condition receives the amount owed and the vendor", () => {
    const playbook = { ...PLAYBOOK, where: "rent" };
    const seen: unknown[] = [];
    const matches: SelectInput["matches"] = (condition, view) => {
      seen.push([condition, view.amountCents, view.vendor.bankLast4, view.flags]);
      return false;
    };
    expect(codeOf(one({}), { playbook, matches })).toBe("where_not_met");
    expect(seen).toEqual([["rent", 10_000, "1111", []]]);
  });

  it("a bill claimed elsewhere is left out, naming the run or retry that owns it", () => {
    const [selected] = selection({ bills: [bill("b1")] }).selected;
    const line = selected === undefined ? undefined : claimedElsewhere(selected, "pay-run/x");
    expect(line).toMatchObject({ code: "claimed", amountCents: 10_000, payableId: "b1" });
    expect(line?.text).toContain("pay-run/x");
    const retried =
      selected === undefined ? undefined : claimedElsewhere(selected, "retry-failed-payment/x/b1");
    expect(retried?.text).toBe("A payment of it failed, and its retry has it.");
  });
});
