import { z } from "zod";

const text = z.string();
const orNull = text.nullable();
const cents = z.int();
const instant = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)), "no ISO 8601 instant");
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

/** The tables of section 2: each field must be there with its type; unknown fields are allowed. */
export const contactTable = z.object({
  id: text,
  type: z.enum(["payee", "business"]),
  status: z.enum(["active", "archived", "revoked"]),
  displayName: orNull,
  emails: z.array(text),
  phone: orNull,
  paymentDirection: z.enum(["bidirectional", "can_pay", "can_be_paid", "none"]),
  netTerms: z.number().nullable(),
  bankAccount: z.object({ last4: text }).nullable(),
  taxInfo: z
    .object({ legalName: orNull, taxIdType: z.enum(["ein", "ssn"]).nullable(), taxIdMask: orNull })
    .nullable(),
  paymentReady: z.boolean(),
  createdAt: instant,
  updatedAt: instant.nullable(),
  archivedAt: instant.nullable(),
});

export const paymentTable = z.object({
  id: text,
  status: z.enum([
    "pending",
    "scheduled",
    "processing",
    "held",
    "completed",
    "failed",
    "returned",
    "cancelled",
    "refund_pending",
    "refunded",
  ]),
  amountCents: cents,
  contactId: orNull,
  payableId: orNull,
  bankAccountId: orNull,
  paymentRail: orNull,
  scheduledAt: instant,
  processedAt: instant.nullable(),
  failureReason: orNull,
  createdAt: instant,
  updatedAt: instant,
});

const items = z.array(
  z.object({
    name: orNull,
    description: orNull,
    quantity: z.number(),
    unitAmountCents: cents,
    totalCents: cents,
  }),
);

export const payableTable = z.object({
  id: text,
  publicId: text,
  status: z.enum(["draft", "pending_approval", "approved", "declined", "blocked", "void"]),
  paymentStatus: z.enum(["none", "scheduled", "processing", "settled", "failed", "clawback"]),
  totalAmountCents: cents.min(1),
  amountPaidCents: cents,
  remainingAmountCents: cents,
  dueDate: date.nullable(),
  issueDate: date.nullable(),
  customNumber: orNull,
  description: orNull,
  contact: z.object({ id: orNull, displayName: orNull }),
  items,
});

export const invoiceTable = z.object({
  id: text,
  publicId: text,
  status: z.enum(["draft", "open", "paid", "void", "declined", "blocked"]),
  paymentStatus: z.enum([
    "none",
    "scheduled",
    "processing",
    "held",
    "settled",
    "failed",
    "clawback",
  ]),
  totalAmountCents: cents,
  amountPaidCents: cents,
  remainingAmountCents: cents,
  dueDate: date.nullable(),
  issueDate: date.nullable(),
  customNumber: orNull,
  description: orNull,
  customer: z.object({ id: orNull, displayName: orNull }),
  paymentLink: z.object({ enabled: z.boolean(), url: orNull, expiresAt: instant.nullable() }),
  dashboardUrl: text,
  items,
});

export const bankAccountTable = z.object({
  id: text,
  status: z.enum(["pending_verification", "verified", "unverified", "removed"]),
  type: z.enum(["checking", "savings"]),
  connectionType: z.enum(["manual", "aggregator"]),
  name: orNull,
  institutionName: orNull,
  accountNumberLast4: orNull,
  routingNumberLast4: orNull,
  isDefault: z.boolean(),
  microDepositsInitiatedAt: instant.nullable(),
  microDepositsCompletedAt: instant.nullable(),
  verificationAttempts: z.number(),
});

export const fundingSourceTable = z.object({
  id: text,
  rail: z.enum(["PROVIDER", "SERVICE"]),
  kind: z.enum(["balance", "linked_bank", "bank"]),
  name: orNull,
  last4: orNull,
  availableCents: cents.nullable(),
  isDefault: z.boolean(),
  canPay: z.boolean(),
  unavailableReason: orNull,
  actionUrl: orNull,
  pay: z.record(text, z.unknown()),
});

export const balanceTable = z.object({
  status: z.enum(["open", "closed"]),
  availableCents: cents,
  cashCents: cents,
  reservedCents: cents,
  pendingInboundCents: cents,
  pendingInboundPassThroughCents: cents,
  pendingOutboundCents: cents,
  isReady: z.boolean(),
  canSendPayments: z.boolean(),
  sameDayAch: z.object({ inbound: z.boolean(), outbound: z.boolean(), maxAmountCents: cents }),
  linkedBank: z.object({ bankName: orNull, last4: orNull }).nullable(),
  dashboardUrl: text,
});
