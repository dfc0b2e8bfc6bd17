import { expect, test } from "vitest";
import { waitingText } from "../../../activities/shared/waiting-text.ts";
import { ClockReading } from "../../../src/business/clock.ts";

test("the text of a restored store's wait says until when, on the business clock and in its zone", () => {
  const clock = new ClockReading({
    businessMs: Date.UTC(2026, 10, 26, 15),
    scale: 2,
    zone: "America/Chicago",
  });
  const step = { reason: "restored", waitMs: 15 * 60_000 } as const;
  expect(waitingText(step, clock)).toContain(
    "Payrun sends nothing until Thu, Nov 26, 9:30 AM Chicago: a lookup then shows",
  );
});
