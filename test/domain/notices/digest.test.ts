import { expect, test } from "vitest";
import { digest, digestDate } from "../../../src/domain/notices/digest.ts";
import { remindFromMs } from "../../../src/domain/notices/decide-by.ts";

test.each<["daily" | "weekly", string, string, string]>([
  ["daily", "2026-11-20T13:00:00Z", "2026-11-20", "8:00 on a Friday"],
  ["daily", "2026-11-20T12:59:59Z", "2026-11-19", "a second before it"],
  ["daily", "2026-11-22T18:00:00Z", "2026-11-20", "a Sunday"],
  ["daily", "2026-11-26T18:00:00Z", "2026-11-25", "Thanksgiving"],
  ["daily", "2026-07-02T12:00:00Z", "2026-07-02", "8:00 in summer"],
  ["weekly", "2026-11-20T18:00:00Z", "2026-11-16", "a Friday"],
  ["weekly", "2026-11-16T12:00:00Z", "2026-11-09", "Monday at 7:00"],
  ["weekly", "2026-09-07T18:00:00Z", "2026-08-31", "Labor Day, a Monday"],
  ["weekly", "2026-09-08T12:00:00Z", "2026-09-08", "the Tuesday after it"],
])("the %s digest at %s is that of %s (%s)", (rhythm, instant, date) => {
  expect(digestDate(rhythm, Date.parse(instant))).toBe(date);
});

test("a digest says first what there is to do, then how each run stands", () => {
  const run = {
    runId: "pay-run/acme/weekly/2026-11-19",
    period: "2026-11-19",
    phase: "awaiting-approval",
    waitingFor: "2 bills waiting for approval",
    totalCents: 30_000,
    sums: new Map([
      ["awaiting-approval", { count: 2, cents: 20_000 }],
      ["parked", { count: 1, cents: 10_000 }],
      ["settled", { count: 0, cents: 0 }],
    ] as const),
  } as const;
  expect(digest("weekly", "2026-11-20", [run])).toEqual({
    subject: "weekly, 2026-11-20: 2 bills to approve, 1 bill to look at",
    text: [
      "2026-11-19, awaiting-approval, $300.00 (pay-run/acme/weekly/2026-11-19)",
      "  waits for: 2 bills waiting for approval",
      "  - awaiting-approval: 2 bills, $200.00",
      "  - parked: 1 bill, $100.00",
    ].join("\n"),
  });
  const held = { ...run, sums: new Map([["on-hold", { count: 4, cents: 20_000 }]] as const) };
  const { subject } = digest("weekly", "2026-11-20", [held]);
  expect(subject).toBe("weekly, 2026-11-20: 4 bills on hold");
  expect(digest("weekly", "2026-11-20", []).subject).toBe("weekly, 2026-11-20: nothing to do");
});

test("people are reminded four hours before a decision is due, or halfway if there was less time", () => {
  const hours = (count: number) => count * 3_600_000;
  expect(remindFromMs(0, hours(48))).toBe(hours(44));
  expect(remindFromMs(0, hours(8))).toBe(hours(4));
  expect(remindFromMs(0, hours(2))).toBe(hours(1));
  expect(remindFromMs(hours(3), hours(2))).toBe(hours(2));
});
