import type { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { allRows } from "../db.ts";
import { insertOutcome } from "../payments/outcomes.ts";
import type { PaymentRow } from "../payments/payment-rows.ts";
import { applyNewOutcome } from "../payments/transitions.ts";
import type { outcomeRule } from "./outcome-rule.ts";

/**
 * Records what the bank does from now on, also with payments it already has. Completed payments
 * are only given back where the payment or its bill is named, never a vendor's whole past.
 */
export function setOutcome(ctx: SandboxContext, rule: z.infer<typeof outcomeRule>): object {
  const { match, times, ...planned } = rule;
  insertOutcome(ctx.db, match, planned, times);
  const reachesBack = match.paymentId !== undefined || match.payableId !== undefined;
  const payments = allRows<PaymentRow>(
    ctx.db,
    `SELECT * FROM payments
     WHERE status IN ('processing', 'held'${reachesBack ? ", 'completed'" : ""})
       AND payment_rail IS NOT NULL
       AND (? IS NULL OR payable_id = ?) AND (? IS NULL OR contact_id = ?) AND (? IS NULL OR id = ?)
     ORDER BY seq LIMIT ?`,
    ...[match.payableId, match.contactId, match.paymentId].flatMap((id) => [
      id ?? null,
      id ?? null,
    ]),
    times ?? -1,
  );
  const nowMs = ctx.clock.bankNow();
  for (const payment of payments) applyNewOutcome(ctx, payment, nowMs);
  return rule;
}
