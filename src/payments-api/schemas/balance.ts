import { z } from "zod";
import { cents, lenient, openEnum } from "./common.ts";

type BalanceStatus = "open" | "closed" | (string & {});

/** Balance that the service holds for the business (API specification, section 2). */
export const balanceSchema = z.object({
  status: openEnum<BalanceStatus>(),
  /** Spendable or withdrawable now. */
  availableCents: cents,
  /** Everything in the account, including money set aside. */
  cashCents: lenient(cents),
  /** Part of `cashCents` promised to payments in flight. */
  reservedCents: lenient(cents),
  pendingInboundCents: lenient(cents),
  pendingInboundPassThroughCents: lenient(cents),
  pendingOutboundCents: lenient(cents),
  isReady: lenient(z.boolean()),
  /** Whether the balance can fund payments now. */
  canSendPayments: z.boolean(),
  sameDayAch: lenient(
    z.object({
      inbound: lenient(z.boolean()),
      outbound: lenient(z.boolean()),
      /** Above this amount standard ACH applies. */
      maxAmountCents: lenient(cents),
    }),
  ),
  linkedBank: lenient(z.object({ bankName: lenient(z.string()), last4: lenient(z.string()) })),
  dashboardUrl: lenient(z.string()),
});

export type Balance = z.infer<typeof balanceSchema>;
