import { z } from "zod";
import { invalid, malformed, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { amountUpTo, optional, pagingQuery, plainDate } from "../http/validation.ts";
import { contactOf } from "./contacts.ts";
import {
  changePayable,
  insertPayable,
  payableJson,
  type PayableItem,
  payableOf,
} from "./payables.ts";
import { pageShape } from "../http/shapes.ts";
import { payablesPage } from "./payable-list.ts";
import { billFields, itemsShape } from "./bill-shapes.ts";

/** PayableDetail without its items: what the sandbox shows of a bill in a list. */
const payableListItemShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(["draft", "pending_approval", "approved", "declined", "blocked", "void"]),
    paymentStatus: z.enum(["none", "scheduled", "processing", "settled", "failed", "clawback"]),
    ...billFields,
    contact: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
  })
  .meta({ id: "PayableListItem" });

/** PayableDetail, section 2. */
const payableShape = payableListItemShape
  .extend({ items: itemsShape })
  .meta({ id: "PayableDetail" });

const payableStatuses = [
  "draft",
  "pending_approval",
  "approved",
  "declined",
  "blocked",
  "void",
] as const;

/** A bill may be worth ten billion dollars at most, which keeps every sum an exact integer. */
const largestTotalCents = 1_000_000_000_000;

const item = z.object({
  name: optional(z.string().max(500)),
  description: optional(z.string().max(1_000)),
  quantity: z.number().positive().max(1_000_000),
  unitAmountCents: z.int().min(0).max(largestTotalCents),
});

/** The fields of a bill that a caller who creates or edits it may send. */
export const payableFields = {
  dueDate: plainDate.nullable().optional(),
  issueDate: plainDate.nullable().optional(),
  customNumber: z.string().max(100).nullable().optional(),
  description: z.string().max(10_000).nullable().optional(),
  items: optional(z.array(item).max(500)),
  totalAmountCents: optional(amountUpTo(largestTotalCents)),
};

export const payableStatus = z.enum(payableStatuses);

/** Returns a bill's items with their totals. */
export function totalled(items: readonly z.infer<typeof item>[] | undefined): PayableItem[] {
  return (items ?? []).map(({ name, description, quantity, unitAmountCents }) => ({
    name: name ?? null,
    description: description ?? null,
    quantity,
    unitAmountCents,
    totalCents: Math.round(quantity * unitAmountCents),
  }));
}

/**
 * Returns a bill's amount: the sum of its items, or the total that was given instead.
 *
 * @throws {ApiError} if neither was given, they contradict each other, or it is below one cent.
 */
export function totalOf(items: readonly PayableItem[], givenCents: number | undefined): number {
  const sum = items.reduce((cents, { totalCents }) => cents + totalCents, 0);
  if (items.length === 0 && givenCents === undefined) {
    throw malformed("totalAmountCents", "items or totalAmountCents is required");
  }
  const totalCents = givenCents ?? sum;
  if (items.length > 0 && totalCents !== sum) {
    throw invalid("totalAmountCents", `totalAmountCents is ${totalCents}, its items sum to ${sum}`);
  }
  if (totalCents < 1 || totalCents > largestTotalCents) {
    throw invalid("totalAmountCents", `totalAmountCents must be 1 to ${largestTotalCents}`);
  }
  return totalCents;
}

const createPayable = defineOperation({
  name: "createPayable",
  summary: "Creates a bill as a draft.",
  method: "POST",
  path: "/v1/payables",
  scopes: ["payables:write"],
  idempotency: "optional",
  errors: ["not_found"],
  answer: { status: 201, body: payableShape },
  body: z.object({ contactId: optional(z.string().min(1)), ...payableFields }),
  handler: ({ ctx, caller, body }) => {
    const { contactId } = body;
    if (contactId !== undefined && contactOf(ctx.db, caller.businessId, contactId) === undefined) {
      throw objectNotFound("Contact");
    }
    const items = totalled(body.items);
    const id = insertPayable(ctx.db, {
      business_id: caller.businessId,
      contact_id: contactId ?? null,
      status: "draft",
      total_cents: totalOf(items, body.totalAmountCents),
      created_at: ctx.clock.bankNow(),
      due_date: body.dueDate,
      issue_date: body.issueDate,
      custom_number: body.customNumber,
      description: body.description,
      items,
    });
    ctx.emitEvent({
      type: "payable.created",
      businessId: caller.businessId,
      object: "payable",
      id,
    });
    const created = payableOf(ctx.db, caller.businessId, id);
    if (created === undefined) throw new Error(`payable ${id} was not inserted`);
    return { status: 201, body: payableJson(ctx.db, created) };
  },
});

const listPayables = defineOperation({
  name: "listPayables",
  summary: "Lists bills, newest first.",
  method: "GET",
  path: "/v1/payables",
  scopes: ["payables:read"],
  idempotency: "none",
  answer: { status: 200, body: pageShape(payableListItemShape) },
  query: z.object({
    ...pagingQuery,
    search: z.string().optional(),
    status: payableStatus.optional(),
  }),
  handler: ({ ctx, caller, query }) => ({
    status: 200,
    body: payablesPage(ctx.db, caller.businessId, query, query),
  }),
});

const getPayable = defineOperation({
  name: "getPayable",
  summary: "Reads one bill.",
  method: "GET",
  path: "/v1/payables/{payableId}",
  scopes: ["payables:read"],
  idempotency: "none",
  answer: { status: 200, body: payableShape },
  handler: ({ ctx, caller, params }) => {
    const payable = payableOf(ctx.db, caller.businessId, params["payableId"] ?? "");
    if (payable === undefined) throw objectNotFound("Payable");
    return { status: 200, body: payableJson(ctx.db, payable) };
  },
});

const submitPayable = defineOperation({
  name: "submitPayable",
  summary: "Submits a draft into the business's approval flow.",
  method: "POST",
  path: "/v1/payables/{payableId}/submit",
  scopes: ["payables:write"],
  idempotency: "optional",
  errors: ["validation_error"],
  answer: { status: 200, body: payableShape },
  handler: ({ ctx, caller, params }) => {
    const payable = payableOf(ctx.db, caller.businessId, params["payableId"] ?? "");
    if (payable === undefined) throw objectNotFound("Payable");
    if (payable.status !== "draft") {
      throw invalid("payableId", `This bill is ${payable.status}, not a draft`);
    }
    if (payable.contact_id === null) {
      throw invalid("payableId", "This bill has no linked vendor");
    }
    const items = JSON.parse(payable.items) as PayableItem[];
    if (items.some(({ name }) => name === null || name.trim() === "")) {
      throw invalid("payableId", "This bill has incomplete items");
    }
    changePayable(ctx.db, payable.id, { status: "pending_approval" });
    const submitted = { ...payable, status: "pending_approval" };
    return { status: 200, body: payableJson(ctx.db, submitted) };
  },
});

export const payableOperations: readonly ServiceOperation[] = [
  createPayable,
  listPayables,
  getPayable,
  submitPayable,
];
