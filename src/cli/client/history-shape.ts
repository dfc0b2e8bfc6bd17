import { z } from "zod";

import { PAID_ONCE_VERDICTS } from "../../domain/payments/paid-once.ts";

const attempt = z.object({
  seq: z.int(),
  operation: z.string(),
  state: z.string(),
  answer: z.string().nullable(),
  amountCents: z.int().nullable(),
  executionDate: z.string().nullable(),
  idempotencyKey: z.string(),
  bodyHash: z.string(),
  sends: z.array(
    z.object({
      at: z.string(),
      result: z.string(),
      status: z.int().optional(),
      code: z.string().optional(),
    }),
  ),
  lookUps: z.array(
    z.object({
      at: z.string(),
      verdict: z.string(),
      isConclusive: z.boolean(),
      paymentIds: z.array(z.string()),
    }),
  ),
  paymentIds: z.array(z.string()),
});

const approval = z.object({
  runId: z.string(),
  by: z.string(),
  roles: z.array(z.string()),
  proof: z.string(),
  proofId: z.string().nullable(),
  at: z.string(),
  expiresAt: z.string(),
  planHash: z.string(),
  stage: z.int().optional(),
  escalated: z.boolean().optional(),
  alone: z.boolean().optional(),
});

/** What `explain` reads of a bill's history. */
export const historyShape = z.object({
  payableId: z.string(),
  owner: z.string().nullable(),
  state: z.string().nullable(),
  reason: z.string().nullable(),
  bill: z
    .object({
      contactId: z.string(),
      contactName: z.string().nullable(),
      amountCents: z.int(),
      dueDate: z.string().nullable(),
    })
    .nullable(),
  paidOnce: z.object({ verdict: z.enum(PAID_ONCE_VERDICTS), sentences: z.array(z.string()) }),
  approvals: z.array(approval),
  refused: z.array(
    z.object({
      by: z.string(),
      at: z.string(),
      code: z.string(),
      reason: z.string(),
      times: z.int(),
    }),
  ),
  timeline: z.array(
    z.object({ at: z.string(), kind: z.string(), text: z.string(), by: z.string().optional() }),
  ),
  attempts: z.array(attempt),
  retry: z
    .object({
      retriesMade: z.int(),
      phase: z.string(),
      reasonCode: z.string().nullable(),
      reason: z.string().nullable(),
    })
    .nullable(),
  cancels: z.array(attempt),
  deposits: z.array(
    z.object({
      subject: z.string(),
      amountCents: z.int(),
      state: z.string(),
      transactionId: z.string().nullable(),
      approvals: z.array(approval).default([]),
      attempts: z.array(attempt),
    }),
  ),
  payments: z.array(
    z.object({
      id: z.string(),
      amountCents: z.int(),
      status: z.string(),
      seenAt: z.string().nullable(),
      seq: z.int(),
    }),
  ),
  cancellations: z.array(
    z.object({
      id: z.string(),
      paymentId: z.string().nullable(),
      state: z.string(),
      reason: z.string().nullable(),
    }),
  ),
  holds: z.array(
    z.object({
      id: z.string(),
      author: z.string(),
      reason: z.string(),
      createdAt: z.string(),
      releasedAt: z.string().nullable(),
      releasedBy: z.string().nullable(),
    }),
  ),
});
