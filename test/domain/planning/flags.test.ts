import { describe, expect, it } from "vitest";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import type { PaymentFacts } from "../../../src/domain/planning/book.ts";
import type { PlanInput } from "../../../src/domain/planning/plan.ts";
import type { KnownAccount } from "../../../src/domain/planning/known-accounts.ts";
import { bill, paid, planOf, PLAYBOOK, record, vendor, type World } from "./fixtures.ts";

function kinds(world: World, changes: Partial<PlanInput> = {}): string[] {
  const line = planOf(world, changes).lines.find(({ payableId }) => payableId === "b1");
  return line?.flags.map((flag) => flag.kind) ?? ["no line"];
}

const NOTHING_KNOWN = { known: new Map<string, KnownAccount>() };

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
      vendors: [vendor("v1", { record: record(isoDays(-days)) })],
    });
    expect(kinds(changed(7), NOTHING_KNOWN)).toEqual(["changed-bank-account"]);
    expect(kinds(changed(31), NOTHING_KNOWN)).toEqual([]);
  });

  it("a record that was changed after the last settled payment is flagged with what differs", () => {
    const flagsOf = (vendors: World["vendors"], playbook = PLAYBOOK) =>
      planOf({ bills: [bill("b1")], ...(vendors && { vendors }) }, { playbook }).lines[0];
    const called = flagsOf([vendor("v1", { record: record(isoDays(-1), "+1 646 555 0199") })]);
    expect(called?.flags).toEqual([
      {
        kind: "changed-record",
        text: "The vendor's record was changed since the last settled payment to it: phone differs. The bank account still ends in 1111.",
      },
    ]);
    const synced = flagsOf([vendor("v1", { record: record(isoDays(-1)) })]);
    expect(synced?.flags[0]?.text).toContain("none of the fields that the service shows differs");
  });

  it("a changed record puts a bill in review only if the playbook names it", () => {
    const vendors = [vendor("v1", { record: record(isoDays(-1)) })];
    const twoPeople = { ...PLAYBOOK.approve[0], review: true, by: ["controller"], quorum: 2 };
    const approve = [{ overCents: null, where: null, ...twoPeople }, ...PLAYBOOK.approve];
    const quorumOf = (review: typeof PLAYBOOK.review) =>
      planOf({ bills: [bill("b1")], vendors }, { playbook: { ...PLAYBOOK, review, approve } })
        .lines[0]?.quorum;
    expect(quorumOf(PLAYBOOK.review)).toBe(1);
    expect(quorumOf(["changed-record"])).toBe(2);
  });

  it("a payment proves an account only once it has been settled for two banking days", () => {
    const settled = (settledDaysAgo: number) => ({
      bills: [bill("b1")],
      vendors: [vendor("v1", { record: record(isoDays(-9)) })],
      payments: [
        paid("b0", {
          createdMs: Date.parse(isoDays(-8)),
          settledMs: Date.parse(isoDays(-settledDaysAgo)),
        }),
      ],
    });
    expect(kinds(settled(2), NOTHING_KNOWN)).toEqual([]);
    expect(kinds(settled(1), NOTHING_KNOWN)).toEqual(["changed-bank-account"]);
    const first = { ...settled(1), bills: [bill("b1", { contactId: "v2" })] };
    const [payment] = first.payments;
    const newcomer = {
      ...first,
      vendors: [vendor("v2")],
      payments: payment === undefined ? [] : [{ ...payment, contactId: "v2" }],
    };
    expect(kinds(newcomer)).toEqual(["new-vendor"]);
  });

  it("others' payments prove an account as long as the record hasn't changed since they were made", () => {
    const vendors = [vendor("v1", { bankLast4: "9999", record: record(isoDays(-9)) })];
    const payment = (madeDaysAgo: number) =>
      paid("b0", {
        createdMs: Date.parse(isoDays(-madeDaysAgo)),
        settledMs: Date.parse(isoDays(-5)),
      });
    expect(kinds({ bills: [bill("b1")], vendors, payments: [payment(8)] })).toEqual([]);
    expect(kinds({ bills: [bill("b1")], vendors, payments: [payment(10)] })).toEqual([
      "changed-bank-account",
    ]);
  });

  it("Payrun's own payment to one account never proves another, whatever the service says when it was entered", () => {
    const payments = [paid("b0", { id: "own", createdMs: Date.parse(isoDays(-20)) })];
    const line = { bankLast4: "1111", record: record(isoDays(-60)), paymentIds: ["own"] };
    const known = new Map([["v1", line]]);
    for (const at of [isoDays(-1), isoDays(-40), null]) {
      const vendors = [vendor("v1", { bankLast4: "9999", record: record(at) })];
      const world = { bills: [bill("b1")], vendors, payments };
      expect(kinds(world, { known }), String(at)).toEqual(["changed-bank-account"]);
    }
  });

  it("an amount is unusual by the whole bill, whatever part of it is paid", () => {
    const bills = [bill("small", { totalCents: 100, issueDate: "2026-01-01" })];
    const payments = [paid("small", { amountCents: 100 })];
    const large = bill("b1", { totalCents: 900, amountPaidCents: 700 });
    expect(kinds({ bills: [...bills, large], payments })).toEqual(["unusual-amount"]);
  });

  it("a payment that was recorded as made elsewhere, or whose rail is unknown, shows nothing about a vendor", () => {
    const review = [...PLAYBOOK.review, "first-payment-after-silence" as const];
    const flagged = (rail: string | null, settledDaysAgo = 5) => {
      const vendors = [vendor("v2", { bankLast4: "9999", record: record(isoDays(-400)) })];
      const bills = [
        ...["large", "larger", "b1"].map((id) => bill(id, { contactId: "v2", totalCents: 90_000 })),
        bill("small", { contactId: "v2", totalCents: 100 }),
      ];
      const of = { contactId: "v2", createdMs: Date.parse(isoDays(-390)) };
      const settledMs = Date.parse(isoDays(-settledDaysAgo));
      const payments = [
        paid("small", { ...of, amountCents: 100, settledMs: Date.parse(isoDays(-380)) }),
        paid("large", { ...of, amountCents: 90_000, rail, settledMs }),
        paid("larger", { ...of, amountCents: 90_000, rail, settledMs }),
      ];
      const numbered = bills.map((each) => ({ ...each, customNumber: each.payableId }));
      const world = { bills: numbered, vendors, payments };
      return kinds(world, { playbook: { ...PLAYBOOK, review } }).filter(
        (kind) => kind !== "likely-duplicate",
      );
    };
    expect(flagged("SERVICE")).toEqual([]);
    for (const rail of [null, "CHECK"]) {
      expect(flagged(rail)).toEqual(["unusual-amount", "first-payment-after-silence"]);
    }
    // Nor does one that may still come back.
    expect(flagged("SERVICE", 1)).toEqual(["unusual-amount", "first-payment-after-silence"]);

    const newcomer = (rail: string | null) =>
      kinds(
        {
          bills: [bill("b1", { contactId: "v2" })],
          vendors: [vendor("v2", { record: record(isoDays(-9)) })],
          payments: [
            paid("b0", {
              ...{ contactId: "v2", rail, createdMs: Date.parse(isoDays(-8)) },
              settledMs: Date.parse(isoDays(-5)),
            }),
          ],
        },
        NOTHING_KNOWN,
      );
    expect(newcomer("PROVIDER")).toEqual([]);
    for (const rail of [null, "CHECK"]) {
      expect(newcomer(rail)).toEqual(["new-vendor", "changed-bank-account"]);
    }
  });

  it("only a bill that was paid in full counts for the usual amount", () => {
    const flagged = (paidCents: number) => {
      const old = (id: string, totalCents: number) =>
        bill(id, { totalCents, issueDate: "2026-01-01" });
      return kinds({
        bills: [old("small", 100), old("large", 900_000), bill("b1", { totalCents: 800_000 })],
        payments: [paid("small", { amountCents: 100 }), paid("large", { amountCents: paidCents })],
      });
    };
    expect(flagged(900_000)).toEqual([]);
    expect(flagged(100)).toEqual(["unusual-amount"]);
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

  it("the first payment to a vendor after a year is flagged if the playbook asks for it", () => {
    const review = ["first-payment-after-silence" as const];
    const flagged = (daysAgo: readonly number[], asked = true) => {
      const payments = daysAgo.map((days, index) =>
        paid(`old${index}`, { contactId: "v2", settledMs: Date.parse(isoDays(-days)) }),
      );
      const world = {
        bills: [bill("b1", { contactId: "v2" })],
        vendors: [vendor("v2")],
        payments,
      };
      const playbook = { ...PLAYBOOK, review: asked ? review : PLAYBOOK.review };
      return kinds(world, { playbook }).includes("first-payment-after-silence");
    };
    expect(flagged([366])).toBe(true);
    expect(flagged([366], false)).toBe(false);
    expect(flagged([800, 364])).toBe(false);
    // A payment in the future settles nothing; a vendor who was never paid is a new one.
    expect(flagged([400, -10])).toBe(true);
    expect(flagged([])).toBe(false);
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
    const text = (bankLast4: string) =>
      planOf(world("R02 Account Closed"), {
        ...NOTHING_KNOWN,
        sent: new Map([["b1", { bankLast4, totalCents: 10_000 }]]),
      }).lines[0]?.flags.find(({ kind }) => kind === "failed-before")?.text;
    expect(text("1111")).toContain("The bank account still ends in 1111.");
    expect(text("2222")).not.toContain("still ends in");
    expect(textOf(world("R01 Insufficient Funds"))).toBeUndefined();
    expect(textOf(world("something else"))).toContain('The service said: "something else".');
  });

  it("a bill whose total has grown since a payment of it was approved is flagged with what was paid, when, and by how much it grew", () => {
    const flagOf = (totalCents: number, paidCents: number, changes: Partial<PaymentFacts> = {}) =>
      planOf(
        {
          bills: [bill("b1", { totalCents })],
          payments: [paid("b1", { amountCents: paidCents, ...changes })],
        },
        { sent: new Map([["b1", { bankLast4: "1111", totalCents: 10_000 }]]) },
      ).lines[0]?.flags.find(({ kind }) => kind === "likely-duplicate");
    expect(flagOf(12_000, 10_000)).toEqual({
      kind: "likely-duplicate",
      text: "This bill was paid before: $100.00, settled on 2026-10-05, approved when its total was $100.00. The total has grown by $20.00 since, to $120.00.",
    });
    expect(flagOf(12_000, 4_000)?.text).toContain("paid before: $40.00, settled on 2026-10-05");
    expect(flagOf(12_000, 10_000, { status: "scheduled" })?.text).toContain(
      "not all of it settled",
    );
    // Paid in parts, or lowered; and what came back was not paid.
    expect(flagOf(10_000, 4_000)).toBeUndefined();
    expect(flagOf(9_000, 4_000)).toBeUndefined();
    expect(flagOf(12_000, 10_000, { status: "returned" })).toBeUndefined();
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
