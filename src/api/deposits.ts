import { z } from "@hono/zod-openapi";
import { TOP_UP_STATES } from "../contracts/deposit.ts";
import type { Shown } from "./shown.ts";
import { day } from "./times.ts";

/** A deposit as a plan proposes it. */
export const plannedTopUp = z
  .object({
    amountCents: z.int(),
    neededOn: day.describe("Execution date of the first bills that are not covered"),
    makeBy: day.describe("The last day on which it still arrives in time"),
    arrivesOn: day,
    late: z.boolean().describe("True if it arrives too late, however soon it is made"),
    account: z.object({
      bankAccountId: z.string(),
      name: z.string().nullable(),
      last4: z.string().nullable(),
    }),
    approvers: z.array(z.string()).describe("Any of these roles approves"),
    quorum: z.int(),
  })
  .openapi("PlannedTopUp");

export const topUpStatus = plannedTopUp
  .extend({
    id: z.string(),
    state: z.enum(TOP_UP_STATES),
    hash: z.string().describe("What a decision about it names (`topUpHash`)"),
    approvedBy: z.array(z.string()),
    transactionId: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .openapi("TopUp");

export type TopUpStatus = Shown<typeof topUpStatus>;
