import { fc, test } from "@fast-check/vitest";
import { Temporal } from "temporal-polyfill";
import { describe, expect, it } from "vitest";
import {
  newYorkDate,
  newYorkInstantMs,
  weekOf,
  zonedDate,
  zonedInstantMs,
} from "../../../src/domain/clock/new-york.ts";

const instant = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2040, 0, 1) });
const zone = fc.constantFrom(
  "America/New_York",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
  "UTC",
);
const minute = fc.integer({ min: 0, max: 24 * 60 - 1 });

describe("zoned clocks", () => {
  it("nine o'clock in New York is the right instant, summer and winter", () => {
    expect(new Date(newYorkInstantMs("2026-07-01", "09:00")).toISOString()).toBe(
      "2026-07-01T13:00:00.000Z",
    );
    expect(new Date(newYorkInstantMs("2026-12-01", "09:00")).toISOString()).toBe(
      "2026-12-01T14:00:00.000Z",
    );
  });

  it("instants are right on the days on which New York's clocks change", () => {
    const utc = (date: string, time: string) =>
      new Date(newYorkInstantMs(date, time)).toISOString();
    expect(utc("2026-03-08", "00:00")).toBe("2026-03-08T05:00:00.000Z");
    expect(utc("2026-03-08", "02:30")).toBe("2026-03-08T07:30:00.000Z");
    expect(utc("2026-03-08", "09:00")).toBe("2026-03-08T13:00:00.000Z");
    expect(utc("2026-11-01", "01:30")).toBe("2026-11-01T05:30:00.000Z");
    expect(utc("2026-11-01", "09:00")).toBe("2026-11-01T14:00:00.000Z");
  });

  it("the New York date changes at midnight in New York", () => {
    expect(newYorkDate(Date.parse("2026-11-21T04:59:59.999Z"))).toBe("2026-11-20");
    expect(newYorkDate(Date.parse("2026-11-21T05:00:00Z"))).toBe("2026-11-21");
  });

  test.prop([instant, zone])("a zoned date agrees with Temporal for any instant", (ms, id) => {
    const expected = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(id);
    expect(zonedDate(ms, id)).toBe(expected.toPlainDate().toString());
  });

  test.prop([instant, minute, zone])(
    "a zoned instant agrees with Temporal for any wall time",
    (ms, wall, id) => {
      const date = new Date(ms).toISOString().slice(0, 10);
      const time = `${String(Math.floor(wall / 60)).padStart(2, "0")}:${String(wall % 60).padStart(2, "0")}`;
      const expected = Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(id);
      expect(zonedInstantMs(date, time, id)).toBe(expected.epochMilliseconds);
    },
  );

  it("unknown times and zones are refused", () => {
    expect(() => newYorkInstantMs("2026-01-01", "24:00")).toThrow(RangeError);
    expect(() => newYorkInstantMs("2026-02-30", "09:00")).toThrow(RangeError);
    expect(() => zonedDate(0, "Mars/Olympus")).toThrow(RangeError);
  });

  it("weeks run from Monday to Sunday", () => {
    const week = { monday: "2026-11-16", sunday: "2026-11-22" };
    expect(weekOf("2026-11-16")).toEqual(week);
    expect(weekOf("2026-11-19")).toEqual(week);
    expect(weekOf("2026-11-22")).toEqual(week);
  });
});
