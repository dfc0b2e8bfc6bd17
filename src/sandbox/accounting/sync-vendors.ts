import type { SandboxContext } from "../context.ts";
import { getRow } from "../db.ts";
import { newId } from "../ids.ts";
import { updateContact } from "../resources/contact-operations.ts";
import { contactById, contactOf, insertContact } from "../resources/contacts.ts";
import { bookRecords, type BookVendor } from "./books.ts";
import { countResults, type SyncResult } from "./sync-result.ts";
import { linkOf, putLink } from "./tables.ts";

/** Makes the books' vendors contacts of the business. */
export function syncVendors(ctx: SandboxContext, businessId: string, atMs: number): SyncResult {
  return countResults(bookRecords(ctx.db, businessId, "vendors"), (vendor) =>
    syncVendor(ctx, businessId, vendor, atMs),
  );
}

/**
 * Syncs one vendor. A contact that a person has mapped to it stays as it is; a contact with the
 * same name or email becomes the vendor's; otherwise a new one is created.
 */
export function syncVendor(
  ctx: SandboxContext,
  businessId: string,
  vendor: BookVendor,
  atMs: number,
): keyof SyncResult {
  const link = linkOf(ctx.db, businessId, "vendors", vendor.id);
  const synced = JSON.stringify(vendor);
  const contact =
    link?.service_id === undefined || link.service_id === null
      ? undefined
      : contactOf(ctx.db, businessId, link.service_id);
  if (link !== undefined && contact !== undefined) {
    if (link.is_mapped === 1 || link.synced === synced) return "unchanged";
    const changes = {
      display_name: vendor.displayName,
      emails: JSON.stringify(vendor.email === null ? [] : [vendor.email]),
      phone: vendor.phone,
      ...bankOf(vendor),
    };
    const updated = updateContact(ctx, contact, changes);
    if (!vendor.active && updated.status === "active") {
      updateContact(ctx, updated, { status: "archived", archived_at: atMs }, "contact.archived");
    }
    putLink(ctx.db, { ...link, synced, updated_at: atMs });
    return "updated";
  }
  if (!vendor.active) return "skipped";
  const twinId = sameContact(ctx, businessId, vendor);
  putLink(ctx.db, {
    business_id: businessId,
    entity_type: "vendors",
    record_id: vendor.id,
    service_id: twinId ?? addContact(ctx, businessId, vendor, atMs),
    is_mapped: 0,
    synced,
    updated_at: atMs,
  });
  return twinId === undefined ? "created" : "unchanged";
}

function bankOf(vendor: BookVendor) {
  if (vendor.bankAccountLast4 === null) return {};
  return { bank_last4: vendor.bankAccountLast4, payment_direction: "can_be_paid" };
}

function sameContact(
  ctx: SandboxContext,
  businessId: string,
  vendor: BookVendor,
): string | undefined {
  const byName = getRow<{ id: string }>(
    ctx.db,
    `SELECT id FROM contacts WHERE business_id = ? AND display_name = ? COLLATE NOCASE
     AND status = 'active' AND type = 'payee' ORDER BY seq LIMIT 1`,
    businessId,
    vendor.displayName,
  );
  if (byName !== undefined || vendor.email === null) return byName?.id;
  return getRow<{ id: string }>(
    ctx.db,
    `SELECT id FROM contacts WHERE business_id = ? AND status = 'active' AND type = 'payee'
     AND EXISTS (SELECT 1 FROM json_each(contacts.emails) WHERE value = ? COLLATE NOCASE)
     ORDER BY seq LIMIT 1`,
    businessId,
    vendor.email,
  )?.id;
}

function addContact(
  ctx: SandboxContext,
  businessId: string,
  vendor: BookVendor,
  atMs: number,
): string {
  const id = newId("con");
  insertContact(ctx.db, {
    id,
    business_id: businessId,
    type: "payee",
    status: "active",
    display_name: vendor.displayName,
    emails: JSON.stringify(vendor.email === null ? [] : [vendor.email]),
    phone: vendor.phone,
    address: null,
    payment_direction: vendor.bankAccountLast4 === null ? "none" : "can_be_paid",
    net_terms: null,
    bank_last4: vendor.bankAccountLast4,
    bank_account_type: vendor.bankAccountLast4 === null ? null : "checking",
    tax_legal_name: null,
    tax_id_type: null,
    tax_id_mask: null,
    created_at: atMs,
    updated_at: null,
    archived_at: null,
  });
  ctx.emitEvent({ type: "contact.created", businessId, object: "contact", id });
  return id;
}

/** Returns the contact to which a vendor's bills belong. */
export function contactOfVendor(
  ctx: SandboxContext,
  businessId: string,
  vendorId: string,
): string | null {
  const id = linkOf(ctx.db, businessId, "vendors", vendorId)?.service_id ?? null;
  return id === null || contactById(ctx.db, id) === undefined ? null : id;
}
