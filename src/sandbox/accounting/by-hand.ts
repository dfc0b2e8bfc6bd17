import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { amountUpTo, plainDate } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { businessById } from "../resources/businesses.ts";
import {
  type BookBankAccount,
  type BookBill,
  bookRecord,
  bookRecords,
  type BookVendor,
  putBookRecord,
} from "./books.ts";
import { connectionJson, endAuthorization } from "./connection.ts";
import { integrationOfBusiness } from "./tables.ts";

const last4 = z.string().regex(/^\d{4}$/, { error: "must be four digits" });
const id = z.string().min(1).max(200).optional();

export const authorization = z
  .strictObject({ decision: z.enum(["allow", "deny"]).default("allow") })
  .default({ decision: "allow" });

const largestCents = 1_000_000_000_000;

/** A record of the accounting system: a new one, or the changes to the one with this id. */
export const bookChange = z.discriminatedUnion("entityType", [
  z.strictObject({
    entityType: z.literal("vendors"),
    id,
    displayName: z.string().min(1).max(200).optional(),
    email: z.string().nullable().optional(),
    phone: z.string().nullable().optional(),
    bankAccountLast4: last4.nullable().optional(),
    active: z.boolean().optional(),
  }),
  z.strictObject({
    entityType: z.literal("bankAccounts"),
    id,
    name: z.string().min(1).max(200).optional(),
    last4: last4.nullable().optional(),
  }),
  z.strictObject({
    entityType: z.literal("invoices"),
    id,
    vendorId: z.string().optional(),
    number: z.string().max(100).nullable().optional(),
    issueDate: plainDate.nullable().optional(),
    dueDate: plainDate.nullable().optional(),
    memo: z.string().max(1_000).nullable().optional(),
    status: z.enum(["open", "paid", "void"]).optional(),
    lines: z
      .array(
        z.object({
          name: z.string().min(1).max(500),
          quantity: z.number().positive().max(1_000_000),
          unitAmountCents: amountUpTo(largestCents),
        }),
      )
      .min(1)
      .max(500)
      .optional(),
  }),
]);

/** Ends OAuth as the accounting system's user. */
export function authorizeByHand(
  ctx: SandboxContext,
  businessId: string,
  { decision }: z.infer<typeof authorization>,
): Record<string, unknown> {
  existing(ctx, businessId);
  const redirectUrl = endAuthorization(ctx, businessId, decision);
  const integration = integrationOfBusiness(ctx.db, businessId);
  return { ...connectionJson(ctx.db, integration), redirectUrl };
}

/** Returns what the accounting system's user sees. */
export function booksByHand(ctx: SandboxContext, businessId: string): Record<string, unknown> {
  existing(ctx, businessId);
  return {
    vendors: bookRecords(ctx.db, businessId, "vendors"),
    bankAccounts: bookRecords(ctx.db, businessId, "bankAccounts"),
    invoices: bookRecords(ctx.db, businessId, "invoices"),
  };
}

/** Adds or changes a record in the books; the service learns of it with the next sync. */
export function changeBooksByHand(
  ctx: SandboxContext,
  businessId: string,
  change: z.infer<typeof bookChange>,
): object {
  existing(ctx, businessId);
  switch (change.entityType) {
    case "vendors":
      return changeVendor(ctx, businessId, change);
    case "bankAccounts":
      return changeBankAccount(ctx, businessId, change);
    case "invoices":
      return changeBill(ctx, businessId, change);
  }
}

type Change<Type> = Extract<z.infer<typeof bookChange>, { entityType: Type }>;

function changeVendor(ctx: SandboxContext, businessId: string, change: Change<"vendors">): object {
  const before = bookRecord(ctx.db, businessId, "vendors", change.id ?? "");
  const displayName = change.displayName ?? before?.displayName;
  if (displayName === undefined) throw invalid("displayName", "A new vendor needs displayName");
  const vendor: BookVendor = {
    id: change.id ?? newId("vendor"),
    displayName,
    email: change.email === undefined ? (before?.email ?? null) : change.email,
    phone: change.phone === undefined ? (before?.phone ?? null) : change.phone,
    bankAccountLast4:
      change.bankAccountLast4 === undefined
        ? (before?.bankAccountLast4 ?? null)
        : change.bankAccountLast4,
    active: change.active ?? before?.active ?? true,
  };
  putBookRecord(ctx.db, businessId, "vendors", vendor);
  return vendor;
}

function changeBankAccount(
  ctx: SandboxContext,
  businessId: string,
  change: Change<"bankAccounts">,
): object {
  const before = bookRecord(ctx.db, businessId, "bankAccounts", change.id ?? "");
  const name = change.name ?? before?.name;
  if (name === undefined) throw invalid("name", "A new bank account needs name");
  const account: BookBankAccount = {
    id: change.id ?? newId("account"),
    name,
    last4: change.last4 === undefined ? (before?.last4 ?? null) : change.last4,
  };
  putBookRecord(ctx.db, businessId, "bankAccounts", account);
  return account;
}

function changeBill(ctx: SandboxContext, businessId: string, change: Change<"invoices">): object {
  const before = bookRecord(ctx.db, businessId, "invoices", change.id ?? "");
  const vendorId = change.vendorId ?? before?.vendorId;
  const lines = change.lines ?? before?.lines;
  if (vendorId === undefined || lines === undefined) {
    throw invalid("vendorId", "A new bill needs vendorId and lines");
  }
  if (bookRecord(ctx.db, businessId, "vendors", vendorId) === undefined) {
    throw objectNotFound("Accounting vendor");
  }
  const { entityType: _, ...changes } = change;
  const given = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  const bill: BookBill = {
    number: null,
    issueDate: null,
    dueDate: null,
    memo: null,
    status: "open",
    ...before,
    ...given,
    id: change.id ?? newId("book_bill"),
    vendorId,
    lines,
  };
  putBookRecord(ctx.db, businessId, "invoices", bill);
  return bill;
}

function existing(ctx: SandboxContext, businessId: string): void {
  if (businessById(ctx.db, businessId) === undefined) throw objectNotFound("Business");
}
