import type { SandboxContext } from "../context.ts";
import type { InvoiceRow } from "./tables.ts";

/**
 * The `invoice.*` types. The specification does not list them, so they are the sandbox's choice.
 */
export type InvoiceEvent =
  | "created"
  | "updated"
  | "sent"
  | "voided"
  | "declined"
  | "blocked"
  | "paid"
  | "payment.scheduled"
  | "payment.partially_paid"
  | "payment.failed"
  | "payment.reversed";

export function tellInvoice(
  ctx: SandboxContext,
  invoice: Pick<InvoiceRow, "id" | "business_id">,
  what: InvoiceEvent,
): void {
  ctx.emitEvent({
    type: `invoice.${what}`,
    businessId: invoice.business_id,
    object: "invoice",
    id: invoice.id,
  });
}
