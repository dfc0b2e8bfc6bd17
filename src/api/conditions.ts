import { z } from "@hono/zod-openapi";
import { CONDITION_CODES } from "../contracts/reason-codes.ts";

/** Something that Payrun needs, or that people need from it, and that is not as it should be. */
export const ConditionBody = z
  .object({
    code: z.enum(CONDITION_CODES),
    severity: z.enum(["warning", "failed"]),
    business: z.string().nullable().describe("Null if it is not about one business"),
    text: z.string(),
    remedy: z.string().describe("What to do about it"),
  })
  .openapi("Condition");

export const ConditionListBody = z.object({ items: z.array(ConditionBody) });

export type Condition = z.infer<typeof ConditionBody>;
