import { z } from "zod";

/** A deposit as far as commands read it. */
export const topUp = z.object({
  state: z.string(),
  hash: z.string(),
  amountCents: z.int(),
  approvers: z.array(z.string()),
  quorum: z.int(),
  approvedBy: z.array(z.string()),
  makeBy: z.string(),
  transactionId: z.string().nullable(),
  reason: z.string().nullable(),
  account: z.object({ name: z.string().nullable(), last4: z.string().nullable() }),
});
