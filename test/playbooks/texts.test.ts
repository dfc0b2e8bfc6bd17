import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMoney, readDays, readMoney, readTime, readZone } from "../../src/playbooks/texts.ts";

const days = { unit: "days", min: 1, max: 60, example: "7 days" } as const;
const businessDays = {
  unit: "business days",
  min: 1,
  max: 10,
  example: "3 business days",
} as const;

describe("money", () => {
  test.each([
    ["$50k", 5_000_000],
    ["$50K", 5_000_000],
    ["$1.5M", 150_000_000],
    ["$75,000", 7_500_000],
    ["$1,234.56", 123_456],
    ["$1234.5", 123_450],
    ["$0.01", 1],
    ["$1.23456k", 123_456],
    ["$10000M", 1_000_000_000_000],
  ])("the amount %s is read as %i cents", (text, cents) => {
    expect(readMoney(text)).toEqual({ ok: true, value: cents });
  });

  test.each([
    [50_000, "$50,000"],
    ["50k", "$50k"],
    ["50,000", "$50,000"],
    ["$50 k", "$50k"],
    ["250 USD", "$250"],
    ["$1.5m", "$1.5M"],
  ])("the amount %s is refused with the suggestion %s", (text, guess) => {
    expect(readMoney(text)).toMatchObject({ ok: false, fault: { didYouMean: guess } });
  });

  test.each([
    "",
    "$",
    "€50",
    "-$50",
    "$-50",
    "$1,23",
    "$1.234",
    "$1.2345678k",
    "$0",
    "$0.00k",
    "$1e5",
  ])("the amount %j is refused", (text) => {
    expect(readMoney(text)).toMatchObject({ ok: false });
  });

  test.each(["$10000.01M", `$${"9".repeat(400)}`, `$${"9".repeat(14)}M`, "$10000000001"])(
    "an amount above ten billion dollars is refused",
    (text) => {
      expect(readMoney(text)).toMatchObject({ ok: false });
    },
  );

  test.each([null, true, [], {}, Number.NaN, Number.POSITIVE_INFINITY, -5, 0.5])(
    "the amount %j is refused, since it is not a text",
    (value) => {
      expect(readMoney(value)).toMatchObject({ ok: false });
    },
  );

  test("reading a formatted amount returns the same amount", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), (cents) => {
        expect(readMoney(formatMoney(cents))).toEqual({ ok: true, value: cents });
      }),
    );
  });

  test("thousands and millions are read as exactly that many dollars", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999_999 }), (thousandths) => {
        const number = (thousandths / 1000).toFixed(3);
        expect(readMoney(`$${number}k`)).toEqual({ ok: true, value: thousandths * 100 });
        expect(readMoney(`$${number}M`)).toEqual({ ok: true, value: thousandths * 100_000 });
      }),
    );
  });
});

describe("durations", () => {
  test("days and business days are read, each by its own rule", () => {
    expect(readDays("7 days", days)).toEqual({ ok: true, value: 7 });
    expect(readDays("1 day", days)).toEqual({ ok: true, value: 1 });
    expect(readDays("3 business days", businessDays)).toEqual({ ok: true, value: 3 });
  });

  test.each([
    ["2 weeks", days, "14 days"],
    ["7d", days, "7 days"],
    [7, days, "7 days"],
    ["3 days", businessDays, "3 business days"],
    ["1 business day", days, "1 day"],
  ])("the duration %s is refused with a suggestion in the expected unit", (text, rule, guess) => {
    expect(readDays(text, rule)).toMatchObject({ ok: false, fault: { didYouMean: guess } });
  });

  test.each(["0 days", "61 days", "-1 days", "1.5 days", "days", "", null, "9999999999999 days"])(
    "the duration %j is refused",
    (text) => {
      expect(readDays(text, days)).toMatchObject({ ok: false });
    },
  );
});

describe("times of day", () => {
  test.each(["00:00", "09:30", "23:59"])("the time of day %s is read", (text) => {
    expect(readTime(text)).toEqual({ ok: true, value: text });
  });

  test.each([
    ["9:30", "09:30"],
    ["9:30pm", "21:30"],
    ["12:15 am", "00:15"],
    ["10am", "10:00"],
    ["10:00:00", "10:00"],
    [10, "10:00"],
  ])("the time of day %s is refused with the suggestion %s", (text, guess) => {
    expect(readTime(text)).toMatchObject({ ok: false, fault: { didYouMean: guess } });
  });

  test.each(["24:00", "10:60", "noon", "", 1000, null])("the time of day %j is refused", (text) => {
    expect(readTime(text)).toMatchObject({ ok: false });
  });
});

describe("time zones", () => {
  test.each(["America/New_York", "UTC", "Europe/Berlin", "US/Eastern"])(
    "the time zone %s is read",
    (zone) => {
      expect(readZone(zone)).toEqual({ ok: true, value: zone });
    },
  );

  test.each([
    ["America/NewYork", "America/New_York"],
    ["america/new_york", "America/New_York"],
    ["New York", "America/New_York"],
    ["EST", "America/New_York"],
    ["pacific", "America/Los_Angeles"],
  ])("the time zone %s is refused with the suggestion %s", (zone, guess) => {
    expect(readZone(zone)).toMatchObject({ ok: false, fault: { didYouMean: guess } });
  });

  test.each(["", "+05:00", "Nowhere/At_All", 5, null])("the time zone %j is refused", (zone) => {
    expect(readZone(zone)).toMatchObject({ ok: false });
  });
});
