import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addBankingDays, isBankingDay } from "../../../src/domain/clock/bank-calendar.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { arrivalOn, planDates } from "../../../src/domain/planning/dates.ts";
import { PLAYBOOK } from "./fixtures.ts";

describe("the dates of a line", () => {
  it("a line's dates are the latest that arrive by the due date", () => {
    const dates = planDates("2026-12-01", "2026-11-19", PLAYBOOK);
    expect(dates).toEqual({
      executionDate: "2026-11-25",
      arrivalDate: "2026-12-01",
      late: false,
      decideBy: "2026-11-25T05:00:00.000Z",
      dateRule: "on 2026-11-25",
    });
  });

  it("a due date on a weekend or holiday counts as the business day before", () => {
    expect(planDates("2026-11-29", "2026-11-16", PLAYBOOK).arrivalDate).toBe("2026-11-27");
    expect(planDates("2026-11-26", "2026-11-16", PLAYBOOK).arrivalDate).toBe("2026-11-25");
  });

  it("a late bill executes on the next banking day, and is shown as late", () => {
    const dates = planDates("2026-11-20", "2026-11-20", PLAYBOOK);
    expect(dates).toMatchObject({ executionDate: "2026-11-23", late: true });
  });

  it("a line's date may move without a new approval only if the playbook allows it", () => {
    const moving = { ...PLAYBOOK, late: "next-business-day" } as const;
    const rules = ["2026-12-01", "2026-12-15"].map(
      (due) => planDates(due, "2026-11-19", moving).dateRule,
    );
    expect(rules).toEqual(["by due date or next business day", "by due date or next business day"]);
  });

  it("the due date is ignored if the playbook pays on the next business day", () => {
    const pay = { ...PLAYBOOK.pay, on: "next-business-day" } as const;
    const dates = planDates("2027-12-01", "2026-11-25", { pay, late: "ask" });
    expect(dates).toMatchObject({ executionDate: "2026-11-27", dateRule: "on 2026-11-27" });
  });

  it("a line that runs on another day than planned arrives as many banking days later", () => {
    const planned = planDates("2026-12-01", "2026-11-19", PLAYBOOK);
    expect(arrivalOn(planned.executionDate, planned)).toBe(planned.arrivalDate);
    const { arrivalBusinessDays } = PLAYBOOK.pay;
    expect(arrivalOn("2026-12-24", planned)).toBe(
      addBankingDays("2026-12-24", arrivalBusinessDays),
    );
  });

  const day = fc.integer({ min: 0, max: 6_000 }).map((offset) => addDays("2024-01-01", offset));
  test.prop([day, fc.option(day)])(
    "dates are banking days, tomorrow or later, and late only if no earlier one is possible",
    (today, due) => {
      const dates = planDates(due, today, PLAYBOOK);
      expect(isBankingDay(dates.executionDate)).toBe(true);
      expect(dates.executionDate > today).toBe(true);
      expect(dates.arrivalDate > dates.executionDate).toBe(true);
      if (dates.late) {
        expect(dates.executionDate).toBe(planDates(null, today, PLAYBOOK).executionDate);
      } else if (due !== null) {
        expect(dates.arrivalDate <= due).toBe(true);
      }
      expect(Date.parse(dates.decideBy)).toBeGreaterThan(newYorkInstantMs(today, "23:59"));
    },
  );
});
