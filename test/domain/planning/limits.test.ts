import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { LimitBook, limitsInForce, vendorWeek } from "../../../src/domain/planning/limits.ts";

describe("limits", () => {
  const limits = { billCents: 1_000, vendorPerWeekCents: 1_500, businessPerWeekCents: 2_000 };
  const unused = {
    businessCents: new Map<string, number>(),
    vendorCents: new Map<string, number>(),
    partCents: new Map<string, number>(),
  };
  const line = (contactId: string, amountCents: number, executionDate = "2026-11-20") => ({
    contactId,
    amountCents,
    totalCents: amountCents,
    executionDate,
  });

  it("limits are checked for the bill, then the vendor's week, then the business's week", () => {
    const book = new LimitBook(limits, unused);
    expect(book.take(line("v1", 1_001))?.code).toBe("over_bill_limit");
    expect(book.take(line("v1", 1_000))).toBeNull();
    expect(book.take(line("v1", 501))?.code).toBe("over_vendor_week_limit");
    expect(book.take(line("v1", 500))).toBeNull();
    expect(book.take(line("v2", 501))?.code).toBe("over_business_week_limit");
    expect(book.take(line("v2", 500))).toBeNull();
  });

  it("a part counts as its whole bill for the bill's limit, and as what it pays for a week's", () => {
    const book = new LimitBook(limits, unused);
    const part = (amountCents: number, totalCents: number) =>
      book.take({ ...line("v1", amountCents), totalCents });
    expect(part(400, 1_001)?.code).toBe("over_bill_limit");
    expect([part(400, 1_000), part(400, 1_000), part(400, 1_000)]).toEqual([null, null, null]);
    expect(part(400, 1_000)?.code).toBe("over_vendor_week_limit");
  });

  it("of a playbook's limits and its business's, the stricter are in force, one by one", () => {
    const playbook = { billCents: 500, vendorPerWeekCents: 2_000, businessPerWeekCents: null };
    expect(limitsInForce(playbook, limits)).toEqual({
      billCents: 500,
      vendorPerWeekCents: 1_500,
      businessPerWeekCents: 2_000,
      ofProfile: ["vendorPerWeekCents", "businessPerWeekCents"],
    });
    expect(limitsInForce(playbook, undefined)).toEqual({ ...playbook, ofProfile: [] });
  });

  it("a bill above a limit is told whose limit it is", () => {
    const playbook = { billCents: 500, vendorPerWeekCents: 2_000, businessPerWeekCents: null };
    const book = new LimitBook(limitsInForce(playbook, limits), unused);
    expect(book.take(line("v1", 501))?.text).toBe(
      "$5.01 is above the playbook's limit of $5.00 for one bill.",
    );
    const told = [1, 2, 3, 4].map(() => book.take(line("v1", 500))?.text ?? "");
    expect(told).toEqual([
      "",
      "",
      "",
      "It would bring this vendor to $20.00 in the week of 2026-11-16, above the business profile's limit of $15.00.",
    ]);
  });

  it("weekly limits begin again on Monday in New York, by execution date", () => {
    const book = new LimitBook(limits, unused);
    expect(book.take(line("v1", 1_000, "2026-11-20"))).toBeNull();
    expect(book.take(line("v1", 1_000, "2026-11-23"))).toBeNull();
  });

  it("limits count what other runs have committed", () => {
    const book = new LimitBook(limits, {
      businessCents: new Map([["2026-11-16", 1_900]]),
      vendorCents: new Map([[vendorWeek("v1", "2026-11-16"), 1_450]]),
      partCents: new Map(),
    });
    expect(book.take(line("v1", 51))?.code).toBe("over_vendor_week_limit");
    expect(book.take(line("v2", 101))?.code).toBe("over_business_week_limit");
    expect(book.take(line("v2", 100))).toBeNull();
  });

  const lines = fc.array(
    fc.record({
      contactId: fc.constantFrom("v1", "v2", "v3"),
      amountCents: fc.integer({ min: 1, max: 1_200 }),
      executionDate: fc.constantFrom("2026-11-20", "2026-11-23", "2026-11-24"),
    }),
  );
  test.prop([lines])("accepted lines never exceed the limits", (asked) => {
    const book = new LimitBook(limits, unused);
    const taken = asked.filter(
      (each) => book.take({ ...each, totalCents: each.amountCents }) === null,
    );
    for (const monday of ["2026-11-16", "2026-11-23"]) {
      const week = taken.filter(
        (each) => each.executionDate >= monday && each.executionDate <= addDays(monday, 6),
      );
      const sum = (of: typeof week) => of.reduce((total, each) => total + each.amountCents, 0);
      expect(sum(week)).toBeLessThanOrEqual(limits.businessPerWeekCents);
      for (const contactId of ["v1", "v2", "v3"]) {
        const vendorSum = sum(week.filter((each) => each.contactId === contactId));
        expect(vendorSum).toBeLessThanOrEqual(limits.vendorPerWeekCents);
      }
    }
  });
});
