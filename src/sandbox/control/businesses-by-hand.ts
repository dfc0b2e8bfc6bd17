import { z } from "zod";
import { setCash } from "../balance/cash.ts";
import { recordReview, reviewFields } from "../businesses/review.ts";
import type { SandboxContext } from "../context.ts";
import { objectNotFound } from "../http/api-error.ts";
import { businessById, type BusinessRow, changeBusiness } from "../resources/businesses.ts";

export const businessChange = z.strictObject({
  ...reviewFields,
  paymentsLocked: z.boolean().optional(),
  acceptsDoublePayments: z.boolean().optional(),
  features: z
    .strictObject({ balance: z.boolean().optional(), acceleratedClearing: z.boolean().optional() })
    .optional(),
  setup: z.enum(["complete", "incomplete"]).optional(),
  balanceCents: z.int().min(0).max(1_000_000_000_000).optional(),
});

/** Applies what the service's reviewers and operators decide about a business. */
export function changeBusinessByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof businessChange>,
): Record<string, unknown> {
  const business = businessById(ctx.db, id);
  if (business === undefined) throw objectNotFound("Business");
  recordReview(ctx, business, body);
  const { features } = body;
  const flag = (value: boolean) => (value ? 1 : 0);
  const isReady = body.verification === "verified" || body.balanceCents !== undefined;
  changeBusiness(ctx.db, id, {
    ...(body.verification !== undefined && { verification: body.verification }),
    // Passing verification opens the balance.
    ...(isReady && business.balance_status === null && { balance_status: "open" }),
    ...(body.paymentsLocked !== undefined && { payments_locked: flag(body.paymentsLocked) }),
    ...(body.acceptsDoublePayments !== undefined && {
      accepts_double_payments: flag(body.acceptsDoublePayments),
    }),
    ...(features?.balance !== undefined && { balance_feature: flag(features.balance) }),
    ...(features?.acceleratedClearing !== undefined && {
      accelerated_feature: flag(features.acceleratedClearing),
    }),
    ...(body.setup !== undefined && { setup_complete: flag(body.setup === "complete") }),
  });
  if (body.balanceCents !== undefined) setCash(ctx.db, id, body.balanceCents);
  return businessJson(businessById(ctx.db, id) ?? business);
}

function businessJson(business: BusinessRow): Record<string, unknown> {
  return {
    id: business.id,
    name: business.name,
    verification: business.verification,
    setup: business.setup_complete === 1 ? "complete" : "incomplete",
    paymentsLocked: business.payments_locked === 1,
    acceptsDoublePayments: business.accepts_double_payments === 1,
    features: {
      balance: business.balance_feature === 1,
      acceleratedClearing: business.accelerated_feature === 1,
    },
    balanceCents: business.balance_status === null ? null : business.cash_cents,
  };
}
