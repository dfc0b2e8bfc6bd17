import type { SandboxContext } from "../context.ts";
import { invalid } from "../http/api-error.ts";
import { tellInvoice } from "./events.ts";
import { current, requireStatus } from "./life.ts";
import { changeInvoice, type InvoiceRow } from "./tables.ts";

/**
 * Turns an invoice's payment link on or off. Without an `expiresAt` the link keeps its expiry,
 * unless that has passed.
 *
 * @throws {ApiError} 422 if the expiry has passed, or the invoice can't be paid any more.
 */
export function setPaymentLink(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  link: { enabled: boolean; expiresAt: string | null | undefined },
): InvoiceRow {
  const nowMs = ctx.clock.bankNow();
  const asked = link.expiresAt;
  if (link.enabled) requireStatus(invoice, ["draft", "open"], "paid by a link");
  const before = invoice.link_expires_at;
  const kept = before !== null && before <= nowMs ? null : before;
  const expiresAtMs = typeof asked === "string" ? Date.parse(asked) : asked;
  if (link.enabled && typeof expiresAtMs === "number" && expiresAtMs <= nowMs) {
    throw invalid("expiresAt", "expiresAt must be in the future (on the bank clock)");
  }
  const changes = {
    link_on: link.enabled ? 1 : 0,
    link_expires_at: expiresAtMs === undefined ? kept : expiresAtMs,
  };
  if (changes.link_on === invoice.link_on && changes.link_expires_at === before) return invoice;
  changeInvoice(ctx.db, invoice.id, changes);
  tellInvoice(ctx, invoice, "updated");
  return current(ctx, invoice);
}
