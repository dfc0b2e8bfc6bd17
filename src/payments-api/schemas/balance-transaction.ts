import { z } from "zod";
import { cents, openEnum, undocumented, undocumentedPageOf } from "./common.ts";

type BalanceTransactionType = "deposit" | "withdrawal" | (string & {});

/**
 * A deposit or withdrawal. Its record is not documented, so only the id is relied on: a lookup must
 * take undefined for "the service does not say", never for "another one". The rest is kept.
 */
export const balanceTransactionSchema = z.looseObject({
  id: z.string().min(1),
  type: undocumented(openEnum<BalanceTransactionType>()),
  status: undocumented(z.string()),
  amountCents: undocumented(cents),
  bankAccountId: undocumented(z.string()),
  failureReason: undocumented(z.string()),
  createdAt: undocumented(z.string()),
  processedAt: undocumented(z.string()),
  updatedAt: undocumented(z.string()),
});

export type BalanceTransaction = z.infer<typeof balanceTransactionSchema>;

export const balanceTransactionPageSchema = undocumentedPageOf(
  balanceTransactionSchema,
  "transactions",
);
