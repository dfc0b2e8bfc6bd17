import { z } from "@hono/zod-openapi";

/** Something that Payrun needs, or that people need from it, and that is not as it should be. */
export const ConditionBody = z
  .object({
    code: z.enum([
      "store-not-writable",
      "store-behind",
      "run-not-started",
      "decision-due",
      "bill-in-doubt",
      "events-undispatched",
      "webhooks-missed",
      "temporal-unreachable",
      "no-worker",
      "worker-silent",
      "key-missing",
      "clock-skew",
      "webhooks-paused",
      "nobody-told",
      "notices-undelivered",
      "token-expires",
      "nobody-approves",
    ]),
    severity: z.enum(["warning", "failed"]),
    business: z.string().nullable().describe("Null if it is not about one business"),
    text: z.string(),
    remedy: z.string().describe("What to do about it"),
  })
  .openapi("Condition");

export const ConditionListBody = z.object({ items: z.array(ConditionBody) });

export type Condition = z.infer<typeof ConditionBody>;
