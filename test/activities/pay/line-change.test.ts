import { expect, test } from "vitest";
import { changeOfLine } from "../../../activities/pay/line-change.ts";
import { RUN_LINES } from "../../../activities/pay/run-lines.ts";
import type { PayJob, PayOwner } from "../../../activities/pay/job.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const MINUTE_MS = 60_000;
const sinceMs = Date.parse("2027-10-28T04:44:51Z");

const owner: PayOwner = {
  ...{ business: "acme", businessId: "bus_1", runId: "pay-run/acme/weekly/2027-10-28" },
  ...{ owner: "pay-run/acme/weekly/2027-10-28", by: "worker-1", lines: RUN_LINES },
} as PayOwner;

function againAfterMs(backingOffMs: number, backOffs: number): number {
  const nowMs = sinceMs + backingOffMs;
  const line = {
    payableId: "bill_6",
    backOffs,
    backOffSinceMs: sinceMs,
    reason: "no",
    paymentIds: [],
  };
  const job = { line, plan: { payableId: "bill_6", amountCents: 8_900 } } as unknown as PayJob;
  const clock = new ClockReading({ businessMs: nowMs });
  const outcome = { kind: "back", waitMs: null, reason: "no" } as const;
  const { notBeforeMs = 0 } = changeOfLine(owner, job, outcome, clock);
  return notBeforeMs - nowMs;
}

test("a line that backs off is tried again when a notice is due, not ten minutes later", () => {
  expect(againAfterMs(55 * MINUTE_MS, 11)).toBe(5 * MINUTE_MS);
});

test("a line whose notice was written is tried again every ten minutes", () => {
  expect(againAfterMs(60 * MINUTE_MS, 12)).toBe(10 * MINUTE_MS);
});
