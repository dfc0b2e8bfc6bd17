import { expect, test } from "vitest";
import { weekPicture } from "../../../src/console/pictures/week.ts";

type Days = Parameters<typeof weekPicture>[0];

const shown = async (days: Days) => (await weekPicture(days, null)).toString();

test("a day's money counts only paid bills, not those that were called back or given up", async () => {
  const days: Days = [
    {
      date: "2026-12-21",
      byState: {
        scheduled: { count: 1, cents: 40_00 },
        cancelled: { count: 2, cents: 38_898_88 },
        "given-up": { count: 1, cents: 7_00 },
      },
    },
    { date: "2026-12-23", byState: { cancelled: { count: 1, cents: 7_414_14 } } },
  ];
  const picture = await shown(days);
  expect(picture).toContain("$40.00");
  expect(picture).toContain("On its way: $40.00");
  expect(picture).not.toMatch(/38,8|38,9|7,414|Dec 23/);
  expect(await shown(days.slice(1))).toContain("No payment this week or the next");
});
