import type { SandboxContext } from "../context.ts";
import { isoInstantOrNull } from "../ids.ts";
import { billJson } from "../resources/bill-shapes.ts";
import { type BusinessRow, callersBusiness, isReadyToPay } from "../resources/businesses.ts";
import { contactById } from "../resources/contacts.ts";
import type { InvoiceRow } from "./tables.ts";

/** True if customers' money can reach the business's balance. */
export function canReceive(business: BusinessRow): boolean {
  return (
    business.balance_feature === 1 && business.balance_status === "open" && isReadyToPay(business)
  );
}

/** Returns the invoice in the API's shape (Invoice, section 2). */
export function invoiceJson(ctx: SandboxContext, row: InvoiceRow): Record<string, unknown> {
  const contact = row.customer_id === null ? undefined : contactById(ctx.db, row.customer_id);
  return {
    ...billJson(row),
    customer: {
      id: row.customer_id,
      displayName: contact === undefined ? row.customer_name : contact.display_name,
    },
    paymentLink: {
      enabled: isLinkEnabled(ctx, row),
      url: `https://pay.payments.example/i/${row.link_token}`,
      expiresAt: isoInstantOrNull(row.link_expires_at),
    },
    dashboardUrl: `https://app.payments.example/businesses/${row.business_id}/invoices/${row.id}`,
    items: JSON.parse(row.items),
  };
}

/**
 * True if the link is on and not expired, the invoice is open with money due, and the business can
 * receive.
 */
function isLinkEnabled(ctx: SandboxContext, row: InvoiceRow): boolean {
  const isExpired = row.link_expires_at !== null && row.link_expires_at <= ctx.clock.bankNow();
  if (row.link_on === 0 || isExpired) return false;
  if (row.status !== "open" || row.paid_cents >= row.total_cents) return false;
  return canReceive(callersBusiness(ctx.db, row.business_id));
}
