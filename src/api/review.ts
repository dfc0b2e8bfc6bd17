import { z } from "@hono/zod-openapi";
import { RUN_PHASES } from "../contracts/pay-run.ts";
import { billSum, missingApproval, newDates, notSent, waitingLines } from "./approvals.ts";
import { topUpStatus } from "./deposits.ts";
import { moment, sendsAfterLoss } from "./moment.ts";
import { nothingToPay, outcome, planOnly } from "./report.ts";
import { runPayment, stoppedByPeople } from "./runs.ts";
import { errorCode, leftOutCode } from "./codes.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

const reviewedBill = runPayment.extend({
  description: z.string().nullable(),
  daysLate: z.int().describe("Calendar days from its due date to its arrival; 0 for none"),
  missing: missingApproval
    .nullable()
    .describe("Whose approval it waits for; null if it waits for none"),
  because: z
    .string()
    .optional()
    .describe("The sum that puts it under its rule; missing if the bill does so alone"),
});

const vendorPayment = z.object({
  paymentId: z.string(),
  payableId: z.string().nullable(),
  amountCents: z.int(),
  status: z.string(),
  on: day.describe("Day in New York"),
});

/** What a person needs to see of a run before approving it. */
export const RunReviewBody = z
  .object({
    id: z.string(),
    kind: z.literal("pay-run"),
    business: z.string(),
    playbook: z.string(),
    period: z.string(),
    phase: z.enum(RUN_PHASES),
    outcome,
    nothingToPay,
    planOnly,
    waitingFor: z.string().nullable(),
    ...stoppedByPeople,
    failure: z.string().optional().describe("Why a failed run could not be planned"),
    ...moment,
    launchedBy: z.string(),
    planHash: z.string().nullable().describe("What a decision names; null while there is no plan"),
    plan: billSum.describe("All bills of the plan"),
    waiting: billSum.describe("Those of them that wait for an approval"),
    decideBy: instant
      .nullable()
      .describe("The time after which approving changes dates; null if nothing waits for it"),
    firstPayment: day
      .nullable()
      .describe("The first day on which one of `waiting` is paid; of all bills if none waits"),
    accounts: z
      .array(
        z.object({
          sourceId: z.string(),
          kind: z.string(),
          name: z.string().nullable(),
          last4: z.string().nullable(),
          bills: billSum.describe(
            "Bills that are paid from it; if what it has now is known, without those that were taken from it already",
          ),
          asOf: instant
            .optional()
            .describe(
              "When it was planned, if the service doesn't say what it has now and the plan does; missing if the money is of now",
            ),
          availableCents: z
            .int()
            .nullable()
            .describe("What it has; null if not known, or if nothing waits any more"),
          promisedCents: z.int().nullable().describe("Of it, promised to other runs"),
          depositedCents: z
            .int()
            .optional()
            .describe(
              "Deposits of this run that are not in what it has; missing for none. Of now those on their way, else all since it was planned",
            ),
          onItsWayCents: z.int().optional().describe("Of these, what has not arrived yet"),
          afterCents: z
            .int()
            .nullable()
            .describe("What is left after these bills, with what was deposited"),
        }),
      )
      .describe("Money before and after, by funding account"),
    topUps: z.array(topUpStatus).optional().describe("Deposits that it has asked for"),
    warnings: z.array(z.string()),
    odd: z.object({
      count: z.int(),
      items: z
        .array(
          reviewedBill.extend({
            lastPayments: z
              .array(vendorPayment)
              .nullable()
              .describe(
                "The last ones to that vendor, newest first; null if the service can't be asked",
              ),
          }),
        )
        .describe("Bills that a person should look at, with why; the largest of them"),
    }),
    late: z.object({
      count: z.int(),
      items: z
        .array(reviewedBill)
        .describe(
          "Open bills that arrive after their due date, latest first; as everywhere here, those that wait have the days that they get if they are approved now",
        ),
    }),
    leftOut: z.object({
      count: z.int(),
      byReason: z.array(z.object({ code: leftOutCode, reason: z.string(), count: z.int() })),
    }),
    yours: z
      .object({
        refusal: z
          .object({ code: errorCode, reason: z.string() })
          .nullable()
          .describe("Why your approval would count for nothing, whatever your roles are"),
        goesOut: billSum.describe("Bills that it lets go out"),
        money: z
          .enum(["none", "short"])
          .optional()
          .describe(
            "That their account has money for none or some of these; missing if it has for all, or if that is not known",
          ),
        newDates,
        onHold: billSum.describe("Bills that nothing but a hold keeps from going out then"),
        notSent,
        oneOfSeveral: z
          .array(waitingLines)
          .describe("Bills that it counts for, and whom they need besides"),
        given: z
          .array(waitingLines)
          .describe("Bills that you have approved, and whom they need besides"),
        none: z.array(waitingLines).describe("Bills that it does not count for"),
        mayReject: z.boolean().describe("Whether your rejection of the plan would count"),
        sends: sendsAfterLoss.optional().describe("Missing if what goes out is sent at once"),
        summary: z.string().describe("The same in a sentence"),
      })
      .describe("What an approval with the caller's token would do"),
    dropped: z.array(reviewedBill).describe("Bills that were asked for as left out"),
    bankChanges: z
      .array(
        billSum.extend({
          contactId: z.string(),
          contactName: z.string().nullable(),
          text: z.string(),
        }),
      )
      .describe("Vendors whose bank account has changed, of bills that your approval counts for"),
    changedRecords: z
      .array(
        billSum.extend({
          contactId: z.string(),
          contactName: z.string().nullable(),
          updatedAt: z.string().nullable().describe("What an answer names"),
          text: z.string(),
        }),
      )
      .describe(
        "Vendors whose record was changed after the approval, and whose account you may say is still right (`confirmedRecords`)",
      ),
    missing: z.array(waitingLines).describe("Whom the bills wait for now"),
    bills: z.array(reviewedBill).describe("The page of bills that was asked for, in plan order"),
    totalCount: z.int().describe("Bills on all pages"),
    page: z.int(),
    pageSize: z.int(),
    nextPage: z.int().nullable().describe("Null on the last page"),
  })
  .openapi("RunReview");

export type RunReview = Shown<typeof RunReviewBody>;
export type ReviewedBill = RunReview["bills"][number];
