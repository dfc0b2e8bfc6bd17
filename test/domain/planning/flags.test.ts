import { describe, expect, it } from "vitest";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import type { PlanInput } from "../../../src/domain/planning/plan.ts";
import { bill, paid, planOf, PLAYBOOK, vendor, type World } from "./fixtures.ts";

function kinds(world: World, changes: Partial<PlanInput> = {}): string[] {
  const line = planOf(world, changes).lines.find(({ payableId }) => payableId === "b1");
  return line?.flags.map((flag) => flag.kind) ?? ["no line"];
}

const isoDays = (days: number) =>
  new Date(newYorkInstantMs(addDays("2026-11-19", days), "10:00")).toISOString();

describe("flags", () => {
  it("an ordinary bill of a vendor who was paid before has no flags", () => {
    expect(kinds({ bills: [bill("b1")] })).toEqual([]);
  });

  it("a vendor without a settled payment is flagged", () => {
    const vendors = [vendor("v2")];
    const bills = [bill("b1", { contactId: "v2" })];
    const pending = [paid("b0", { contactId: "v2", status: "processing" })];
    expect(kinds({ bills, vendors, payments: pending })).toEqual(["new-vendor"]);
  });

  it("a bank account other than the one last paid is flagged", () => {
    const world = { bills: [bill("b1")], vendors: [vendor("v1", { bankLast4: "9999" })] };
    expect(kinds(world)).toEqual(["changed-bank-account"]);
    const text = planOf(world).lines[0]?.flags[0]?.text;
    expect(text).toContain("9999");
    expect(text).toContain("1111");
  });

  it("a recently changed vendor record is flagged if there is no earlier payment to compare with", () => {
    const changed = (days: number) => ({
      bills: [bill("b1")],
      vendors: [vendor("v1", { updatedAt: isoDays(-days) })],
    });
    const nothing = { lastPaidTo: new Map<string, string>() };
    expect(kinds(changed(7), nothing)).toEqual(["changed-bank-account"]);
    // An earlier payment that came back or was cancelled may still have been made.
    const [flag] = planOf(changed(7), nothing).lines[0]?.flags ?? [];
    expect(flag?.text).toContain("no payment from here has reached it");
    expect(kinds(changed(31), nothing)).toEqual([]);
    expect(kinds(changed(7))).toEqual([]);
  });

  it("a bill that resembles another of the same vendor within 30 days is flagged", () => {
    const near = bill("b2", { issueDate: "2026-11-10", status: "approved" });
    expect(kinds({ bills: [bill("b1"), near] })).toEqual(["likely-duplicate"]);
    const paidTwin = { bills: [bill("b1"), near], payments: [paid("b2")] };
    expect(kinds(paidTwin)).toEqual(["likely-duplicate"]);
    for (const other of [
      { ...near, issueDate: "2026-12-02" },
      { ...near, totalCents: 10_001 },
      { ...near, contactId: "v2" },
      { ...near, status: "void" },
    ]) {
      expect(kinds({ bills: [bill("b1"), other] })).toEqual([]);
    }
  });

  it("an amount above three times the median of the vendor's paid bills is flagged", () => {
    const history = [1_000, 2_000, 90_000].map((totalCents, index) =>
      bill(`old${index}`, { totalCents, issueDate: "2026-01-01" }),
    );
    const payments = history.map((old) => paid(old.payableId, { amountCents: old.totalCents }));
    const world = (totalCents: number) => ({
      bills: [...history, bill("b1", { totalCents })],
      payments,
    });
    expect(kinds(world(6_000))).toEqual([]);
    expect(kinds(world(6_001))).toEqual(["unusual-amount"]);
  });

  it("flags warn that a large amount is split, and that several scheduled payments can't be cancelled", () => {
    const large = { bills: [bill("b1", { totalCents: 10_000_001 })] };
    expect(kinds(large)).toEqual(["split", "not-recallable"]);
    const partly = {
      bills: [bill("b1")],
      payments: [paid("b1", { status: "scheduled", amountCents: 4_000 })],
    };
    expect(kinds(partly)).toEqual(["not-recallable"]);
  });

  it("the flag of a bill that came back gives the reason, and says if the account is still the same", () => {
    const world = (failureReason: string, bankLast4 = "1111", status = "failed"): World => ({
      bills: [bill("b1")],
      vendors: [vendor("v1", { bankLast4 })],
      payments: [paid("b1", { status, failureReason })],
    });
    const textOf = (given: World): string | undefined =>
      planOf(given).lines[0]?.flags.find(({ kind }) => kind === "failed-before")?.text;
    expect(textOf(world("R02 Account Closed"))).toBe(
      "A payment of this bill has failed. The bank says R02, account closed. The bank account still ends in 1111.",
    );
    expect(textOf(world("R02 Account Closed", "2222", "returned"))).toBe(
      "A payment of this bill has failed. The bank says R02, account closed.",
    );
    const never = { lastPaidTo: new Map<string, string>() };
    const text = (sentTo: string) =>
      planOf(world("R02 Account Closed"), {
        ...never,
        sentTo: new Map([["b1", sentTo]]),
      }).lines[0]?.flags.find(({ kind }) => kind === "failed-before")?.text;
    expect(text("1111")).toContain("The bank account still ends in 1111.");
    expect(text("2222")).not.toContain("still ends in");
    expect(textOf(world("R01 Insufficient Funds"))).toBeUndefined();
    expect(textOf(world("something else"))).toContain('The service said: "something else".');
  });

  it("reviews that the playbook doesn't name are not flagged, but lateness always is", () => {
    const playbook = { ...PLAYBOOK, review: [] };
    const world = {
      bills: [bill("b1", { contactId: "v2", dueDate: "2026-11-19" })],
      vendors: [vendor("v2")],
    };
    expect(kinds(world, { playbook })).toEqual(["late"]);
  });

  it("a duplicate is found among many equal bills, even if it has no date", () => {
    const rent = (payableId: string, issueDate: string | null) =>
      bill(payableId, { issueDate, dueDate: issueDate === null ? null : "2026-11-27" });
    const months = [rent("jan", "2026-01-01"), rent("aug", "2026-08-01"), rent("b1", "2026-11-10")];
    expect(kinds({ bills: months })).toEqual([]);
    expect(kinds({ bills: [...months, rent("oct", "2026-10-15")] })).toEqual(["likely-duplicate"]);
    expect(kinds({ bills: [...months, rent("undated", null)] })).toEqual(["likely-duplicate"]);
  });
});
