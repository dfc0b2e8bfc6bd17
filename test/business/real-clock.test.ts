import { expect, test } from "vitest";
import { ClockReading } from "../../src/business/clock.ts";
import { Clocks } from "../../src/business/clocks.ts";
import { profile } from "../gateway/support/gateway.ts";

const MINUTE_MS = 60_000;

test.each([
  0,
  -62_000_000_000_000,
  8.64e15,
  Date.parse("2999-01-01"),
  Date.now() - 2 * 60 * MINUTE_MS,
])("a Date header of %d is not the service's time", async (dateMs) => {
  const clock = new Clocks().of(profile());
  clock.observeServiceDate(dateMs);
  expect(await clock.now()).toMatchObject({ serviceHeard: false });
  clock.observeServiceDate(Date.now() - MINUTE_MS);
  clock.observeServiceDate(dateMs);
  const { serviceHeard, serviceMs, realMs } = await clock.now();
  expect(serviceHeard).toBe(true);
  expect(Math.abs(serviceMs - realMs + MINUTE_MS)).toBeLessThan(MINUTE_MS / 2);
});

test("real milliseconds and instants of a fast clock convert into each other, and people keep their minute", () => {
  const fast = new ClockReading({ businessMs: 1_000, realMs: 500, scale: 60, sandbox: true });
  expect(fast.realMsUntil(fast.afterRealMs(250))).toBe(250);
  expect(fast.afterRealMs(-10)).toBe(400);
  expect([fast.peopleMinMs, fast.soonerMs(30_000)]).toEqual([MINUTE_MS, 1_000]);
  const later = fast.carriedOn(600);
  expect([later.businessMs, later.realMs, later.realMsUntil(7_060)]).toEqual([7_000, 600, 1]);
  const real = new ClockReading({ businessMs: 1_000 });
  expect([real.realMsUntil(3_000), real.peopleMinMs, real.soonerMs(30_000)]).toEqual([
    2_000, 0, 30_000,
  ]);
});
