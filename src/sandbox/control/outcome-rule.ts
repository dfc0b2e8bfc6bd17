import { z } from "zod";
import { addDuration } from "../clock/duration.ts";

/** An ISO 8601 duration on the bank clock that is not negative. */
const duration = z.string().refine((text) => (addDuration(0, text) ?? -1) >= 0, {
  error: "must be an ISO 8601 duration such as P3D or PT9H",
});

/**
 * The body of `POST /sandbox/outcomes`: what the bank does with the payments that match, and with
 * the deposits and withdrawals that `transactionId` or `bankAccountId` name.
 */
export const outcomeRule = z.strictObject({
  match: z.strictObject({
    payableId: z.string().optional(),
    contactId: z.string().optional(),
    paymentId: z.string().optional(),
    transactionId: z.string().optional(),
    bankAccountId: z.string().optional(),
  }),
  outcome: z.enum(["settle", "fail", "return", "hold"]),
  code: z.string().min(1).optional(),
  reason: z.string().min(1).optional(),
  after: duration.optional(),
  times: z.int().min(1).optional(),
});
