import { expect, test } from "vitest";
import { Clocks } from "../../src/business/clock.ts";
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
