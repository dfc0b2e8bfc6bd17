import { z } from "@hono/zod-openapi";
import type { Shown } from "./shown.ts";
import { day } from "./times.ts";

const planned = z.object({
  amountCents: z.int(),
  executionDate: day,
  bankLast4: z.string().nullable().describe("Last four digits of the vendor's account"),
  approvers: z.array(z.string()),
});

/** The differences between a plan that a person looked at and the run's plan in force. */
export const PlanChangesBody = z
  .object({
    since: z.string().describe("Hash of the plan that was looked at"),
    planHash: z.string().describe("Hash of the plan that holds"),
    lines: z
      .array(
        z.object({
          payableId: z.string(),
          publicId: z.string().nullable(),
          contactName: z.string().nullable(),
          before: planned,
          after: planned,
          reason: z.string().nullable().describe("Why it was planned anew"),
        }),
      )
      .describe("Bills that were planned anew since"),
  })
  .openapi("PlanChanges");

export type PlanChanges = Shown<typeof PlanChangesBody>;
