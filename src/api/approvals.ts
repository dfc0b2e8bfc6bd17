import { z } from "@hono/zod-openapi";
import { day } from "./times.ts";

/** A number of bills and their sum. */
export const billSum = z.object({ count: z.int(), cents: z.int() });

/** Approved bills whose day has passed. */
export const newDates = billSum
  .extend({
    executionDate: day.describe("The day that they get instead, YYYY-MM-DD"),
    asksAgain: z.boolean().describe("True if that day needs an approval of its own"),
  })
  .optional()
  .describe(
    "Bills whose day has passed: some of those that go out or, if the new day asks again, others; missing for none",
  );

/** Whose approval a bill waits for. */
export const missingApproval = z.object({
  by: z.array(z.string()).describe("Roles that may decide now"),
  quorum: z.int(),
  approvals: z.int().describe("Approvals that they have"),
  stage: z.int().optional().describe("Of a rule of several stages, from 1"),
  stages: z.int().optional(),
  aboutRecord: z
    .literal(true)
    .optional()
    .describe(
      "The bill is approved; its vendor's record was changed, and one of these says whether the account is still right",
    ),
});

/** Bills that wait for the same people. */
export const waitingLines = missingApproval.extend({ lines: z.int(), totalCents: z.int() });

/** Bills that are not sent, as part of a decision or of a preview of an approval. */
export const notSent = z
  .array(
    billSum.extend({
      payableId: z.string().nullable().describe("Null if it is about the vendor's bills"),
      contactId: z.string(),
      contactName: z.string().nullable(),
      text: z.string().describe("Why, in a sentence"),
    }),
  )
  .optional()
  .describe(
    "Bills that are approved and not sent, because the service shows them, or their vendor, differently from the plan; missing for none",
  );
