import { z } from "@hono/zod-openapi";
import { instant } from "./times.ts";

/** The time and the time zone of a business. */
export const moment = {
  zone: z
    .string()
    .describe(
      "The time zone in which its people are shown times: New York's unless its profile names one",
    ),
  now: instant.nullable().describe("The business clock; null if it can't be read"),
};

/** When a restored store sends again. */
export const sendsAfterLoss = z.object({
  zone: moment.zone,
  notBefore: instant
    .nullable()
    .describe(
      "Until when nothing is sent, because the store was restored: what it may have lost shows by then, and is not paid again",
    ),
  restored: z
    .literal(true)
    .optional()
    .describe(
      "That the store was restored since this was planned: what was paid meanwhile is found before anything is sent, and not paid again",
    ),
});
