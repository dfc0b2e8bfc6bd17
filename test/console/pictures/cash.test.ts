import { expect, test } from "vitest";
import { cashPicture } from "../../../src/console/pictures/cash.ts";

const account = {
  ...{ sourceId: "balance", kind: "balance", name: "Balance", last4: null },
  ...{ availableCents: 9_000_000, promisedCents: 1_500_000, afterCents: -5_250_000 },
  bills: { count: 3, cents: 12_750_000 },
};

test("the sums beside the bars are page text, because a phone shrinks text in the picture", async () => {
  const picture = String(await cashPicture(account as Parameters<typeof cashPicture>[0]));
  const beside = picture.replaceAll(/<svg[\s\S]*?<\/svg>/g, "");
  expect(beside).toContain("Now: $90,000.00");
  expect(beside).toContain("$52,500.00 missing");
});

test("a deposit made since the plan counts in the sum before, so that no money is missing", async () => {
  const asOf = "2026-12-01T15:00:00.000Z";
  const deposited = { ...account, asOf, depositedCents: 6_000_000, afterCents: 750_000 };
  const picture = String(await cashPicture(deposited as Parameters<typeof cashPicture>[0]));
  expect(picture).toContain("Before: $150,000.00, with $60,000.00 deposited since");
  expect(picture).not.toContain("issing");
});

test("a deposit on its way is shown beside the current sum and counts in what is left", async () => {
  const money = { depositedCents: 6_000_000, onItsWayCents: 6_000_000, afterCents: 750_000 };
  const coming = { ...account, ...money } as Parameters<typeof cashPicture>[0];
  const picture = String(await cashPicture(coming));
  expect(picture).toContain("Now: $90,000.00, and $60,000.00 on its way");
  expect(picture).not.toContain("issing");
});
