import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { filteredPage } from "../db.ts";
import { invalid, malformed, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { pageShape, instantShape } from "../http/shapes.ts";
import { amountUpTo, optional, pagingQuery } from "../http/validation.ts";
import { likePattern } from "../resources/contact-operations.ts";
import { contactOf } from "../resources/contacts.ts";
import { payableFields, totalled, totalOf } from "../resources/payable-operations.ts";
import { tellInvoice } from "./events.ts";
import { markPaid, sendInvoice, voidInvoice } from "./life.ts";
import { setPaymentLink } from "./payment-link.ts";
import {
  insertInvoice,
  invoiceOf,
  invoicePaymentStatuses,
  type InvoiceRow,
  invoiceStatuses,
} from "./tables.ts";
import { invoiceJson } from "./views.ts";
import { billFields, itemsShape } from "../resources/bill-shapes.ts";

/** Invoice, section 2. */
const invoiceShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(invoiceStatuses),
    paymentStatus: z.enum(invoicePaymentStatuses),
    ...billFields,
    customer: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
    paymentLink: z.object({
      enabled: z.boolean(),
      url: z.url(),
      expiresAt: instantShape.nullable(),
    }),
    dashboardUrl: z.url(),
    items: itemsShape,
  })
  .meta({ id: "Invoice" });

const reading = ["invoices:read"];
const writing = ["invoices:write"];
const largestCents = 1_000_000_000_000;

/** A customer who is not a contact yet. */
export const invitation = z.object({
  displayName: z.string().trim().min(1).max(200),
  email: optional(z.string().regex(/^[^\s@]+@[^\s@]+$/, { error: "must be an email address" })),
});

const listInvoices = defineOperation({
  name: "listInvoices",
  summary: "Lists invoices, newest first.",
  description: "`search` looks in their ids, numbers and descriptions and in the customer's name.",
  method: "GET",
  path: "/v1/invoices",
  scopes: reading,
  idempotency: "none",
  query: z.object({
    ...pagingQuery,
    status: z.enum(invoiceStatuses).optional(),
    paymentStatus: z.enum(invoicePaymentStatuses).optional(),
    customerId: z.string().optional(),
    search: z.string().optional(),
  }),
  answer: { status: 200, body: pageShape(invoiceShape) },
  handler: ({ ctx, caller, query }) => {
    const { rows, totalCount } = filteredPage<InvoiceRow>(
      ctx.db,
      {
        table: "invoices",
        filters: [
          ["business_id = ?", caller.businessId],
          ["status = ?", query.status],
          ["payment_status = ?", query.paymentStatus],
          ["customer_id = ?", query.customerId],
          [searching, query.search ? likePattern(query.search) : undefined],
        ],
        orderBy: "seq DESC",
      },
      query,
    );
    return { status: 200, body: { items: rows.map((row) => invoiceJson(ctx, row)), totalCount } };
  },
});

/** One text of everything that can be searched, so that the condition has one placeholder. */
const searching = `concat_ws(char(10), public_id, custom_number, description, customer_name,
  (SELECT display_name FROM contacts WHERE contacts.id = invoices.customer_id))
  LIKE ? ESCAPE '\\'`;

const createInvoice = defineOperation({
  name: "createInvoice",
  summary: "Creates an invoice as a draft.",
  description:
    "For a contact (`customerId`) or for somebody who is invited (`customer`), over `items` or " +
    "`totalAmountCents`. Its payment link is on from the beginning and works once it is sent.",
  method: "POST",
  path: "/v1/invoices",
  scopes: writing,
  idempotency: "optional",
  errors: ["not_found"],
  body: z.object({
    customerId: optional(z.string().min(1)),
    customer: optional(invitation),
    ...payableFields,
  }),
  answer: { status: 201, body: invoiceShape },
  handler: ({ ctx, caller, body }) => {
    const items = totalled(body.items);
    const invoice = insertInvoice(ctx.db, {
      business_id: caller.businessId,
      ...customerOf(ctx, caller.businessId, body),
      status: "draft",
      total_cents: totalOf(items, body.totalAmountCents),
      created_at: ctx.clock.bankNow(),
      due_date: body.dueDate,
      issue_date: body.issueDate,
      custom_number: body.customNumber,
      description: body.description,
      items,
    });
    tellInvoice(ctx, invoice, "created");
    return { status: 201, body: invoiceJson(ctx, invoice) };
  },
});

/**
 * Returns the customer of an invoice.
 *
 * @throws {ApiError} 400 if neither or both are named; 404 if the contact doesn't exist; 422 if it
 * is archived or revoked.
 */
export function customerOf(
  ctx: SandboxContext,
  businessId: string,
  body: { customerId?: string | undefined; customer?: { displayName: string } | undefined },
): Pick<InvoiceRow, "customer_id" | "customer_name"> {
  const { customerId, customer } = body;
  if ((customerId === undefined) === (customer === undefined)) {
    throw malformed("customerId", "Exactly one of customerId and customer is required");
  }
  if (customerId === undefined) {
    return { customer_id: null, customer_name: customer?.displayName ?? null };
  }
  const contact = contactOf(ctx.db, businessId, customerId);
  if (contact === undefined) throw objectNotFound("Customer");
  if (contact.status !== "active") {
    throw invalid("customerId", `This contact is ${contact.status}`);
  }
  return { customer_id: customerId, customer_name: null };
}

const getInvoice = defineOperation({
  name: "getInvoice",
  summary: "Reads one invoice.",
  description: "A bill that the business pays is not an invoice: its id answers 404.",
  method: "GET",
  path: "/v1/invoices/{invoiceId}",
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: invoiceShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: invoiceJson(ctx, ownInvoice(ctx, caller.businessId, params)),
  }),
});

const send = defineOperation({
  name: "sendInvoice",
  summary: "Sends a draft to its customer; from then on it is open.",
  method: "POST",
  path: "/v1/invoices/{invoiceId}/send",
  scopes: writing,
  idempotency: "optional",
  errors: ["validation_error"],
  answer: { status: 200, body: invoiceShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: invoiceJson(ctx, sendInvoice(ctx, ownInvoice(ctx, caller.businessId, params))),
  }),
});

const makeVoid = defineOperation({
  name: "voidInvoice",
  summary: "Takes back a draft or an open invoice on which nothing has been paid.",
  method: "POST",
  path: "/v1/invoices/{invoiceId}/void",
  scopes: writing,
  idempotency: "optional",
  errors: ["payment_in_progress", "validation_error"],
  answer: { status: 200, body: invoiceShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: invoiceJson(ctx, voidInvoice(ctx, ownInvoice(ctx, caller.businessId, params))),
  }),
});

const setPaid = defineOperation({
  name: "markInvoicePaid",
  summary: "Records that an open invoice was paid outside the service: check, wire or cash.",
  description: "`amountCents` defaults to what is due; a smaller amount is a part of it.",
  method: "POST",
  path: "/v1/invoices/{invoiceId}/mark-paid",
  scopes: writing,
  idempotency: "optional",
  errors: ["payment_in_progress"],
  body: z.object({ amountCents: optional(amountUpTo(largestCents)) }).default({}),
  answer: { status: 200, body: invoiceShape },
  handler: ({ ctx, caller, params, body }) => {
    const invoice = ownInvoice(ctx, caller.businessId, params);
    return { status: 200, body: invoiceJson(ctx, markPaid(ctx, invoice, body.amountCents)) };
  },
});

const paymentLink = defineOperation({
  name: "setInvoicePaymentLink",
  summary: "Turns an invoice's payment link on or off.",
  description:
    "`enabled` defaults to true. `expiresAt` is an instant on the bank clock; null means forever.",
  method: "POST",
  path: "/v1/invoices/{invoiceId}/payment-link",
  scopes: writing,
  idempotency: "optional",
  body: z
    .object({
      enabled: z.boolean().default(true),
      expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
    })
    .default({ enabled: true }),
  answer: { status: 200, body: invoiceShape },
  handler: ({ ctx, caller, params, body }) => {
    const invoice = ownInvoice(ctx, caller.businessId, params);
    const { enabled, expiresAt } = body;
    return {
      status: 200,
      body: invoiceJson(ctx, setPaymentLink(ctx, invoice, { enabled, expiresAt })),
    };
  },
});

function ownInvoice(
  ctx: SandboxContext,
  businessId: string,
  params: Readonly<Record<string, string>>,
): InvoiceRow {
  const invoice = invoiceOf(ctx.db, businessId, params["invoiceId"] ?? "");
  if (invoice === undefined) throw objectNotFound("Invoice");
  return invoice;
}

export const invoiceOperations: readonly ServiceOperation[] = [
  listInvoices,
  createInvoice,
  getInvoice,
  send,
  makeVoid,
  setPaid,
  paymentLink,
];
