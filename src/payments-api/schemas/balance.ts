import { z } from "zod";
import { UNREADABLE, cents, lenient, openEnum, shownText } from "./common.ts";

type BalanceStatus = "open" | "closed" | (string & {});

/** Balance that the service holds for the business (API specification, section 2). */
export const balanceSchema = z.object({
  status: openEnum<BalanceStatus>().catch(UNREADABLE),
  /** Spendable or withdrawable now; null if the service doesn't say. */
  availableCents: lenient(cents),
  /** Everything in the account, including money set aside. */
  cashCents: lenient(cents),
  /** Part of `cashCents` promised to payments in flight. */
  reservedCents: lenient(cents),
  pendingInboundCents: lenient(cents),
  pendingInboundPassThroughCents: lenient(cents),
  pendingOutboundCents: lenient(cents),
  isReady: lenient(z.boolean()),
  /** Whether the balance can fund payments now. */
  canSendPayments: z.boolean().catch(false),
  sameDayAch: lenient(
    z.object({
      inbound: lenient(z.boolean()),
      outbound: lenient(z.boolean()),
      /** Above this amount standard ACH applies. */
      maxAmountCents: lenient(cents),
    }),
  ),
  linkedBank: lenient(z.object({ bankName: shownText, last4: shownText })),
  dashboardUrl: shownText,
});

export type Balance = z.infer<typeof balanceSchema>;
