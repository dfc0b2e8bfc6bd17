import { z } from "zod";
import {
  UNREADABLE,
  amountCents,
  id,
  openEnum,
  orUnreadable,
  longText,
  undocumented,
  undocumentedPageOf,
} from "./common.ts";

type BalanceTransactionType = "deposit" | "withdrawal" | (string & {});

/**
 * A deposit or withdrawal. Its record is not documented, so only the id is relied on: a lookup must
 * take undefined for "the service does not say", never for "another one". The rest is kept.
 */
export const balanceTransactionSchema = z.looseObject({
  id,
  type: undocumented(openEnum<BalanceTransactionType>()),
  /** One that is absurd counts as an unknown one: the money is on its way. */
  status: openEnum().nullable().optional().catch(UNREADABLE),
  amountCents: undocumented(amountCents),
  bankAccountId: undocumented(longText),
  failureReason: undocumented(longText),
  createdAt: undocumented(longText),
  processedAt: undocumented(longText),
  updatedAt: undocumented(longText),
});

export type BalanceTransaction = z.infer<typeof balanceTransactionSchema>;

export const balanceTransactionPageSchema = undocumentedPageOf(
  orUnreadable(balanceTransactionSchema),
  "transactions",
);
