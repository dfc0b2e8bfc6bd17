import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { getRow, pageOfRows } from "../db.ts";
import { ApiError, invalid, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { optional, pagingQuery } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { rememberAccountNumber } from "../payments/magic.ts";
import {
  changeContact,
  contactJson,
  contactOf,
  type ContactRow,
  insertContact,
} from "./contacts.ts";
import { pageShape } from "../http/shapes.ts";
import { contactShape } from "./contact-shapes.ts";

const email = z
  .string()
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/, { error: "must be an email address" });
const emails = z.array(email).max(5);
const displayName = z.string().trim().min(1).max(200);
const phone = z.string().max(40);
const address = z.object({
  streetOne: z.string().min(1).max(200),
  streetTwo: optional(z.string().max(200)),
  city: z.string().min(1).max(100),
  stateCode: z.string().regex(/^[A-Z]{2}$/, { error: "must be a two-letter US state code" }),
  zipCode: z.string().regex(/^\d{5}(-\d{4})?$/, { error: "must be a US zip code" }),
});

/** A contact's bank account: write-only; only the last four digits are stored. */
export const contactBankAccount = z.object({
  accountNumber: z.string().regex(/^\d{4,17}$/, { error: "must have 4 to 17 digits" }),
  routingNumber: z.string().regex(/^\d{9}$/, { error: "must be a nine-digit ABA number" }),
  accountType: z.enum(["checking", "savings"]).default("checking"),
});

const taxInfo = z.object({
  legalName: z.string().min(1).max(200),
  taxIdType: z.enum(["ein", "ssn"]),
  taxId: z.string().regex(/^\d{2}-?\d{7}$|^\d{3}-?\d{2}-?\d{4}$/, { error: "must have 9 digits" }),
});

const newContact = z.object({
  displayName,
  emails: optional(emails),
  phone: optional(phone),
  address: optional(address),
  bankAccount: optional(contactBankAccount),
  taxInfo: optional(taxInfo),
  allowDuplicates: optional(z.boolean()),
});

function ownContact(
  ctx: SandboxContext,
  businessId: string,
  params: Readonly<Record<string, string>>,
): ContactRow {
  const contact = contactOf(ctx.db, businessId, params["contactId"] ?? "");
  if (contact === undefined) throw objectNotFound("Contact");
  return contact;
}

/**
 * Changes a contact, sets its `updatedAt` and emits the event. @returns the contact as it is now.
 */
export function updateContact(
  ctx: SandboxContext,
  contact: ContactRow,
  changes: Parameters<typeof changeContact>[2],
  event = "contact.updated",
): ContactRow {
  const updated = { ...changes, updated_at: ctx.clock.bankNow() };
  changeContact(ctx.db, contact.id, updated);
  ctx.emitEvent({
    type: event,
    businessId: contact.business_id,
    object: "contact",
    id: contact.id,
  });
  return { ...contact, ...updated };
}

const createContact = defineOperation({
  name: "createContact",
  summary: "Adds a vendor.",
  method: "POST",
  path: "/v1/contacts",
  scopes: ["contacts:write"],
  idempotency: "optional",
  errors: ["duplicate_contact"],
  answer: { status: 201, body: contactShape },
  body: newContact,
  handler: ({ ctx, caller, body }) => {
    if (body.allowDuplicates !== true) refuseDuplicate(ctx, caller.businessId, body);
    const row: ContactRow = {
      id: newId("con"),
      business_id: caller.businessId,
      type: "payee",
      status: "active",
      display_name: body.displayName,
      emails: JSON.stringify(body.emails ?? []),
      phone: body.phone ?? null,
      address: body.address === undefined ? null : JSON.stringify(body.address),
      payment_direction: body.bankAccount === undefined ? "none" : "can_be_paid",
      net_terms: null,
      bank_last4: body.bankAccount?.accountNumber.slice(-4) ?? null,
      bank_account_type: body.bankAccount?.accountType ?? null,
      tax_legal_name: body.taxInfo?.legalName ?? null,
      tax_id_type: body.taxInfo?.taxIdType ?? null,
      tax_id_mask: body.taxInfo?.taxId.slice(-4) ?? null,
      created_at: ctx.clock.bankNow(),
      updated_at: null,
      archived_at: null,
    };
    insertContact(ctx.db, row);
    rememberAccountNumber(ctx.db, row.id, body.bankAccount?.accountNumber ?? null);
    ctx.emitEvent({
      type: "contact.created",
      businessId: caller.businessId,
      object: "contact",
      id: row.id,
    });
    return { status: 201, body: contactJson(row) };
  },
});

function refuseDuplicate(
  ctx: SandboxContext,
  businessId: string,
  body: { displayName: string; emails?: string[] | undefined },
): void {
  const byName = getRow<{ id: string }>(
    ctx.db,
    `SELECT id FROM contacts WHERE business_id = ? AND display_name = ? COLLATE NOCASE
     AND status <> 'revoked' LIMIT 1`,
    businessId,
    body.displayName,
  );
  const same =
    byName ??
    (body.emails ?? [])
      .map((text) => contactByEmail(ctx, businessId, text))
      .find((found) => found !== undefined);
  if (same === undefined) return;
  throw new ApiError(
    409,
    "duplicate_contact",
    "A contact with this name or email exists; allowDuplicates: true adds another",
    { contactId: same.id },
  );
}

function contactByEmail(
  ctx: SandboxContext,
  businessId: string,
  text: string,
): { id: string } | undefined {
  return getRow(
    ctx.db,
    `SELECT id FROM contacts WHERE business_id = ? AND status <> 'revoked'
     AND EXISTS (SELECT 1 FROM json_each(contacts.emails) WHERE value = ? COLLATE NOCASE) LIMIT 1`,
    businessId,
    text,
  );
}

const listContacts = defineOperation({
  name: "listContacts",
  summary: "Lists contacts; revoked ones only when asked for.",
  method: "GET",
  path: "/v1/contacts",
  scopes: ["contacts:read"],
  idempotency: "none",
  answer: { status: 200, body: pageShape(contactShape) },
  query: z.object({
    ...pagingQuery,
    type: z.enum(["payee", "business"]).optional(),
    status: z.enum(["active", "archived", "revoked"]).optional(),
    search: z.string().optional(),
  }),
  handler: ({ ctx, caller, query }) => {
    const where = ["business_id = ?"];
    const values: string[] = [caller.businessId];
    if (query.status === undefined) where.push("status <> 'revoked'");
    else add("status = ?", query.status);
    if (query.type !== undefined) add("type = ?", query.type);
    if (query.search !== undefined && query.search !== "") {
      const pattern = likePattern(query.search);
      where.push(
        "(display_name LIKE ? ESCAPE '\\' OR (type = 'payee' AND EXISTS (SELECT 1 FROM json_each(contacts.emails) WHERE value LIKE ? ESCAPE '\\')))",
      );
      values.push(pattern, pattern);
    }
    const { rows, totalCount } = pageOfRows<ContactRow>(
      ctx.db,
      { table: "contacts", where, values, orderBy: "seq DESC" },
      query,
    );
    return { status: 200, body: { items: rows.map(contactJson), totalCount } };

    function add(condition: string, value: string): void {
      where.push(condition);
      values.push(value);
    }
  },
});

/** Returns a LIKE pattern (escape character `\`) that finds a literal text anywhere. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

const getContact = defineOperation({
  name: "getContact",
  summary: "Reads one contact.",
  method: "GET",
  path: "/v1/contacts/{contactId}",
  scopes: ["contacts:read"],
  idempotency: "none",
  answer: { status: 200, body: contactShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: contactJson(ownContact(ctx, caller.businessId, params)),
  }),
});

const patchContact = defineOperation({
  name: "updateContact",
  summary: "Changes a contact's name, emails, phone, address or terms.",
  method: "PATCH",
  path: "/v1/contacts/{contactId}",
  scopes: ["contacts:write"],
  idempotency: "optional",
  answer: { status: 200, body: contactShape },
  body: z.object({
    displayName: displayName.optional(),
    emails: emails.nullable().optional(),
    phone: phone.nullable().optional(),
    address: address.nullable().optional(),
    netTerms: z.int().min(0).max(3_650).nullable().optional(),
  }),
  handler: ({ ctx, caller, params, body }) => {
    const contact = ownContact(ctx, caller.businessId, params);
    if (contact.type === "business") {
      for (const field of ["emails", "phone", "address", "netTerms"] as const) {
        if (body[field] !== undefined) {
          throw invalid(field, `${field} can only be set for payee contacts`);
        }
      }
    }
    const updated = updateContact(ctx, contact, {
      ...(body.displayName !== undefined && { display_name: body.displayName }),
      ...(body.emails !== undefined && { emails: JSON.stringify(body.emails ?? []) }),
      ...(body.phone !== undefined && { phone: body.phone }),
      ...(body.address !== undefined && {
        address: body.address === null ? null : JSON.stringify(body.address),
      }),
      ...(body.netTerms !== undefined && { net_terms: body.netTerms }),
    });
    return { status: 200, body: contactJson(updated) };
  },
});

const archiveContact = defineOperation({
  name: "archiveContact",
  summary: "Archives a contact.",
  method: "POST",
  path: "/v1/contacts/{contactId}/archive",
  scopes: ["contacts:write"],
  idempotency: "optional",
  errors: ["validation_error"],
  answer: { status: 200, body: contactShape },
  handler: ({ ctx, caller, params }) => {
    const contact = ownContact(ctx, caller.businessId, params);
    if (contact.status === "revoked")
      throw invalid("contactId", "This contact's access was revoked");
    if (contact.status === "archived") return { status: 200, body: contactJson(contact) };
    const changes = { status: "archived", archived_at: ctx.clock.bankNow() };
    const archived = updateContact(ctx, contact, changes, "contact.archived");
    return { status: 200, body: contactJson(archived) };
  },
});

const unarchiveContact = defineOperation({
  name: "unarchiveContact",
  summary: "Restores an archived contact.",
  method: "POST",
  path: "/v1/contacts/{contactId}/unarchive",
  scopes: ["contacts:write"],
  idempotency: "optional",
  errors: ["validation_error"],
  answer: { status: 200, body: contactShape },
  handler: ({ ctx, caller, params }) => {
    const contact = ownContact(ctx, caller.businessId, params);
    if (contact.status === "revoked") {
      throw invalid("contactId", "A revoked contact cannot be restored through the API");
    }
    if (contact.status === "active") return { status: 200, body: contactJson(contact) };
    const changes = { status: "active", archived_at: null };
    const restored = updateContact(ctx, contact, changes, "contact.unarchived");
    return { status: 200, body: contactJson(restored) };
  },
});

export const contactOperations: readonly ServiceOperation[] = [
  createContact,
  listContacts,
  getContact,
  patchContact,
  archiveContact,
  unarchiveContact,
];
