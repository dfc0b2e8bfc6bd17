import { describe, expect, test, vi } from "vitest";
import { isLong } from "../support/long.ts";
import { eachOnce, type OtherPayrun, otherStacks } from "../support/other-payrun.ts";
import type { OtherServiceOptions } from "../support/other-service/options.ts";

// Real clocks can't be accelerated: a wait of the business doubles with every try.
vi.setConfig({ testTimeout: 150_000 });

const start = otherStacks();

const ON_THEIR_WAY = ["scheduled", "processing", "settled"] as const;

/** Lets the bank settle the open payments until the run has ended. */
async function settled(payrun: OtherPayrun, runId: string): Promise<Record<string, number>> {
  await payrun.untilAll(runId, ON_THEIR_WAY, 90_000);
  // Any alarm of the engine would have put the run on hold.
  expect((await payrun.call("operator", "GET", "/v1/holds")).body).toMatchObject({ items: [] });
  await payrun.service.settleAll();
  return (await payrun.untilPhase(runId, "completed")).counts;
}

const CHOICES: readonly (readonly [string, Partial<OtherServiceOptions>])[] = [
  ["lists bills with id and status only, and writes cents as floats", {}],
  [
    "lists bills without their contact, has ids that paths must encode, and a clock that is four minutes ahead",
    {
      payableListItems: "without-contact",
      ids: "odd",
      dateSkewMs: 240_000,
      answersNamePayable: true,
    },
  ],
  [
    "has ids of 200 characters, counts a payment as paid only once it has settled, and fails every fifth read",
    { ids: "long", amountPaidMoves: "at-settlement", payableListItems: "whole", failingReads: 5 },
  ],
  [
    "names no account to debit, no rail, and shows payments two seconds late",
    { payNamesAccount: false, paymentRails: "null", listDelayMs: 2_000 },
  ],
  [
    "pays from a balance whose amount it does not tell, and forbids its webhook API",
    { funding: "balance", balance: "feature_unavailable", webhookApi: "forbidden" },
  ],
  [
    "answers with payments that are under way in a status nobody knows",
    { newPaymentStatus: "in_review", dateSkewMs: -240_000 },
  ],
  ["splits payments above a hundred dollars", { splitAboveCents: 100_00 }],
];

describe("paying with other services", () => {
  test.each(isLong ? CHOICES : CHOICES.slice(0, 1))(
    "each bill is paid once and followed to settlement by a service that %s",
    async (_name, options) => {
      const payrun = await start(options);
      const { runId, made } = await payrun.approvedRun([125_00, 990_10, 12_345_67]);
      expect(await settled(payrun, runId)).toEqual({ settled: 3 });
      expect(payrun.service.book.paidCents()).toEqual(eachOnce(made));
    },
  );

  test.runIf(isLong)(
    "each bill is paid once by a service that has settled a payment by the time it answers",
    async () => {
      const payrun = await start({ newPaymentStatus: "completed" });
      const { runId, made } = await payrun.approvedRun([125_00, 990_10]);
      const done = await payrun.untilPhase(runId, "completed");
      expect(done.counts).toEqual({ settled: 2 });
      expect(payrun.service.book.paidCents()).toEqual(eachOnce(made));
    },
  );
});
