import { z } from "zod";

const railShape = z.enum(["SERVICE", "PROVIDER"]);

/** Funding source, section 2. */
export const fundingSourceShape = z
  .object({
    id: z.string(),
    rail: railShape,
    kind: z.enum(["balance", "linked_bank", "bank"]),
    name: z.string().nullable(),
    last4: z.string().nullable(),
    availableCents: z.int().nullable().meta({
      description: "Balance only; null unless the token can read payments or the balance.",
    }),
    isDefault: z.boolean(),
    canPay: z.boolean(),
    unavailableReason: z.string().nullable(),
    actionUrl: z.string().nullable(),
    pay: z
      .object({
        paymentRail: railShape,
        fundingSource: z.string().optional(),
        bankAccountId: z.string().optional(),
      })
      .meta({ description: "Fields to send on POST /v1/payments, as they are." }),
  })
  .meta({ id: "FundingSource" });

/** Balance, section 2. */
export const balanceShape = z
  .object({
    status: z.enum(["open", "closed"]),
    availableCents: z.int(),
    cashCents: z.int(),
    reservedCents: z.int(),
    pendingInboundCents: z.int(),
    pendingInboundPassThroughCents: z.int(),
    pendingOutboundCents: z.int(),
    isReady: z.boolean(),
    canSendPayments: z.boolean(),
    sameDayAch: z.object({
      inbound: z.boolean(),
      outbound: z.boolean(),
      maxAmountCents: z.int(),
    }),
    linkedBank: z
      .object({ bankName: z.string().nullable(), last4: z.string().nullable() })
      .nullable(),
    dashboardUrl: z.string(),
  })
  .meta({ id: "Balance" });
