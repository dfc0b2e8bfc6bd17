import { z } from "@hono/zod-openapi";
import { billSum } from "./approvals.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

/**
 * The bills of runs that are with the service: which payments can still be stopped, and which
 * can't.
 */
export const UnderWayBody = z
  .object({
    recallable: billSum.describe("Bills whose payments can still be cancelled"),
    until: instant.nullable().describe("The first cut-off among them, on the business clock"),
    beyond: billSum.describe(
      "Bills that are being sent, are with the bank, or were split into several payments, which the service doesn't cancel",
    ),
    storeBehind: z
      .boolean()
      .describe("True for a restored store: payments that it has lost are not among these"),
    items: z
      .array(
        z.object({
          payableId: z.string(),
          publicId: z.string().nullable(),
          contactName: z.string().nullable(),
          business: z.string(),
          runId: z.string(),
          amountCents: z.int(),
          executionDate: day,
          recallBy: instant
            .nullable()
            .describe(
              "Until when a cancel can be sent, on the business clock; null if it is held, and can be at any time",
            ),
          paymentIds: z.array(z.string()),
        }),
      )
      .describe("Those that can be cancelled, the nearest day first"),
    yours: z.object({
      mayStop: z.array(z.string()).describe("Businesses that the caller may stop"),
      mayCancel: z.boolean().describe("Whether the caller may cancel single payments"),
    }),
    nextPage: z.int().nullable().describe("Null on the last page"),
  })
  .openapi("UnderWay");

export type UnderWay = Shown<typeof UnderWayBody>;
