import { z } from "zod";
import { filteredPage, getRow } from "../db.ts";
import { ApiError, objectNotFound } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { amountUpTo, instantMs, optional, pagingQuery, plainDate } from "../http/validation.ts";
import { createPayments, type PaymentRequest, retryPayment } from "./create.ts";
import { paymentJson, paymentOf, type PaymentRow, paymentStatuses } from "./payment-rows.ts";
import { cancelAtService } from "./transitions.ts";
import { pageShape, instantShape } from "../http/shapes.ts";

/** Payment, section 2. */
const paymentShape = z
  .object({
    id: z.string(),
    status: z.enum(paymentStatuses),
    amountCents: z.int().min(1).meta({
      description: "Of this payment; less than the request's total where it was split.",
    }),
    contactId: z.string().nullable(),
    payableId: z.string().nullable(),
    bankAccountId: z.string().nullable().meta({
      description: "Account debited; null for a payment from the balance.",
    }),
    paymentRail: z.enum(["SERVICE", "PROVIDER"]).nullable().meta({
      description: "Null for a payment recorded outside the service.",
    }),
    scheduledAt: instantShape,
    processedAt: instantShape.nullable(),
    failureReason: z.string().nullable(),
    createdAt: instantShape,
    updatedAt: instantShape,
  })
  .meta({ id: "Payment" });

/** The payments that a request has made: several if a large amount was split. */
const createdPaymentsShape = z
  .object({ payableId: z.string(), payments: z.array(paymentShape).min(1) })
  .meta({ id: "CreatedPayments" });

const cancelledPaymentShape = z
  .object({
    payment: paymentShape,
    message: z.string().meta({ description: "Says where the money went." }),
  })
  .meta({ id: "CancelledPayment" });

/** The largest amount that one request may pay: $100,000,000.00, a thousand splits. */
const largestRequestCents = 10_000_000_000;

const paymentRequest: z.ZodType<PaymentRequest> = z
  .object({
    payableId: optional(z.string().min(1)),
    contactId: optional(z.string().min(1)),
    amountCents: optional(amountUpTo(largestRequestCents)),
    bankAccountId: optional(z.string().min(1)),
    description: optional(z.string().max(1_000)),
    customNumber: optional(z.string().max(21)),
    categoryId: optional(z.string()),
    clearing: optional(z.enum(["STANDARD", "NEXT_AVAILABLE"])),
    scheduledAt: optional(plainDate),
    paymentRail: optional(z.enum(["SERVICE", "PROVIDER"])),
    fundingSource: optional(z.string().min(1)),
    achAuthorizationAccepted: optional(z.boolean()),
  })
  .check((check) => {
    const { payableId, contactId, amountCents } = check.value;
    if ((payableId === undefined) === (contactId === undefined)) {
      const message = "exactly one of payableId and contactId is needed";
      check.issues.push(combination(check.value, "payableId", message));
    } else if (contactId !== undefined && amountCents === undefined) {
      check.issues.push(combination(check.value, "amountCents", "is required with contactId"));
    }
  });

function combination(input: unknown, field: string, message: string): z.core.$ZodRawIssue {
  return { code: "custom", input, path: [field], message, params: { status: 400 } };
}

const createPayment = defineOperation({
  name: "createPayment",
  summary: "Pays a bill, or a contact directly.",
  method: "POST",
  path: "/v1/payments",
  scopes: ["payments:initiate"],
  idempotency: "required",
  money: true,
  errors: [
    "approval_required",
    "contact_not_payable",
    "payment_in_progress",
    "insufficient_balance",
    "setup_required",
    "setup_incomplete",
    "payments_locked",
    "feature_unavailable",
    "not_found",
  ],
  answer: { status: 201, body: createdPaymentsShape },
  body: paymentRequest,
  handler: ({ ctx, caller, body, partially }) => ({
    status: 201,
    body: createPayments(ctx, caller.businessId, body, partially ? 1 : undefined),
  }),
});

const listPayments = defineOperation({
  name: "listPayments",
  summary: "Lists payments, newest first.",
  method: "GET",
  path: "/v1/payments",
  scopes: ["payments:read", "payables:read"],
  idempotency: "none",
  answer: { status: 200, body: pageShape(paymentShape) },
  query: z.object({
    ...pagingQuery,
    payableId: z.string().optional(),
    contactId: z.string().optional(),
    status: z.enum(paymentStatuses).optional(),
    createdAfter: instantMs.optional(),
    createdBefore: instantMs.optional(),
  }),
  handler: ({ ctx, caller, query }) => {
    const { rows, totalCount } = filteredPage<PaymentRow>(
      ctx.db,
      {
        table: "payments",
        filters: [
          ["business_id = ?", caller.businessId],
          ["payable_id = ?", query.payableId],
          ["contact_id = ?", query.contactId],
          ["status = ?", query.status],
          ["created_at >= ?", query.createdAfter],
          ["created_at < ?", query.createdBefore],
        ],
        orderBy: "created_at DESC, seq DESC",
      },
      query,
    );
    return { status: 200, body: { items: rows.map(paymentJson), totalCount } };
  },
});

const getPayment = defineOperation({
  name: "getPayment",
  summary: "Reads one payment.",
  method: "GET",
  path: "/v1/payments/{paymentId}",
  scopes: ["payments:read", "payables:read"],
  idempotency: "none",
  answer: { status: 200, body: paymentShape },
  handler: ({ ctx, caller, params }) => {
    const payment = paymentOf(ctx.db, caller.businessId, params["paymentId"] ?? "");
    if (payment === undefined) throw objectNotFound("Payment");
    return { status: 200, body: paymentJson(payment) };
  },
});

const cancelPayment = defineOperation({
  name: "cancelPayment",
  summary: "Cancels a scheduled or held payment.",
  method: "POST",
  path: "/v1/payments/{paymentId}/cancel",
  scopes: ["payments:initiate"],
  idempotency: "required",
  money: true,
  errors: ["payment_not_cancellable"],
  answer: { status: 200, body: cancelledPaymentShape },
  body: z.object({ reason: optional(z.string().max(500)) }).default({ reason: undefined }),
  handler: ({ ctx, caller, params, body }) => {
    const payment = paymentOf(ctx.db, caller.businessId, params["paymentId"] ?? "");
    if (payment === undefined) throw objectNotFound("Payment");
    checkCancellable(ctx.db, payment);
    const message = cancelAtService(ctx, payment, body.reason, ctx.clock.bankNow());
    const cancelled = paymentOf(ctx.db, caller.businessId, payment.id) ?? payment;
    return { status: 200, body: { payment: paymentJson(cancelled), message } };
  },
});

function checkCancellable(db: Parameters<typeof paymentOf>[0], payment: PaymentRow): void {
  const details = { status: payment.status };
  if (payment.status !== "scheduled" && payment.status !== "held") {
    const message = `This payment is ${payment.status}; only scheduled and held ones can be cancelled`;
    throw new ApiError(409, "payment_not_cancellable", message, details);
  }
  const scheduled = getRow<{ n: number }>(
    db,
    "SELECT count(*) AS n FROM payments WHERE payable_id = ? AND status = 'scheduled'",
    payment.payable_id,
  );
  if (payment.status === "scheduled" && (scheduled?.n ?? 0) > 1) {
    const message =
      "This payment's bill has several scheduled payments; none of them can be cancelled";
    throw new ApiError(409, "payment_not_cancellable", message, details);
  }
}

const retryPayablePayment = defineOperation({
  name: "retryPayment",
  summary: "Pays a bill's last failed payment again.",
  method: "POST",
  path: "/v1/payables/{payableId}/retry-payment",
  scopes: ["payments:initiate"],
  idempotency: "required",
  money: true,
  errors: [
    "validation_error",
    "approval_required",
    "contact_not_payable",
    "payment_in_progress",
    "insufficient_balance",
    "setup_required",
    "setup_incomplete",
    "payments_locked",
    "feature_unavailable",
  ],
  answer: { status: 201, body: createdPaymentsShape },
  handler: ({ ctx, caller, params }) => ({
    status: 201,
    body: retryPayment(ctx, caller.businessId, params["payableId"] ?? ""),
  }),
});

export const paymentOperations: readonly ServiceOperation[] = [
  createPayment,
  listPayments,
  getPayment,
  cancelPayment,
  retryPayablePayment,
];
