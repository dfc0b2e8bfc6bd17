import { AUTHOR_KINDS } from "../contracts/authors.ts";
import { z } from "@hono/zod-openapi";
import { LINE_STATES } from "../contracts/line-states.ts";
import { BILL_WAYS, PAID_ONCE_VERDICTS } from "../domain/payments/paid-once.ts";
import { leftOutCode, reasonCodeOrNull } from "./codes.ts";
import { ConfirmedAccounts, hurriedWhen, RefusedDecision } from "./decisions.ts";
import { HoldBody } from "./holds.ts";
import { parts } from "./schemas.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

const AttemptBody = z.object({
  seq: z.int(),
  operation: z.string(),
  state: z
    .string()
    .describe(
      "`open`: it may still take effect; `applied`, `dead`, or `refused`: it may be sent again",
    ),
  answer: z.string().nullable(),
  amountCents: z.int().nullable().describe("Null if a restored store knows only what it made"),
  executionDate: day.nullable(),
  owner: z.string().nullable(),
  idempotencyKey: z.string(),
  bodyHash: z.string().describe("SHA-256 of the bytes that were sent"),
  sends: z.array(
    z.object({
      at: instant,
      result: z.string(),
      status: z.int().optional(),
      code: z.string().optional(),
      message: z.string().optional(),
    }),
  ),
  lookUps: z.array(
    z.object({
      at: instant,
      verdict: z.string(),
      isConclusive: z.boolean().describe("True if nothing of it could be in flight any more"),
      shown: z.int(),
      paymentIds: z.array(z.string()),
    }),
  ),
  paymentIds: z.array(z.string()),
});

const ApprovalBody = z.object({
  runId: z.string().describe("The run, or the deposit that it is about"),
  by: z.string(),
  roles: z.array(z.string()),
  proof: z.enum(["token", "signature", "sign-in"]),
  proofId: z.string().nullable(),
  at: instant,
  expiresAt: instant,
  decisionId: z.string(),
  planHash: z.string(),
  lineHash: z.string(),
  stage: z.int().describe("From 1"),
  escalated: z.boolean(),
  alone: z.boolean().describe("Counts only because one person may launch and approve"),
  comment: z.string().nullable(),
  verifiedBankChange: z
    .object({ person: z.string(), phone: z.string() })
    .nullable()
    .describe("How the approver verified that the vendor's changed bank account is the vendor's"),
  hurry: hurriedWhen,
});

export const HistoryBody = z
  .object({
    payableId: z.string(),
    business: z.string(),
    zone: z.string().describe("The time zone in which its people are shown times"),
    owner: z.string().nullable(),
    state: z.enum(LINE_STATES).nullable(),
    givenBack: z
      .boolean()
      .describe("True if it is parked and waits for no person: another run plans it, or has"),
    roles: z.array(z.string()).describe("Any of these decides about it; empty unless it is parked"),
    retryRoles: z
      .array(z.string())
      .describe("Any of these may have it tried again; empty if a retry is refused to all"),
    reasonCode: reasonCodeOrNull,
    reason: z.string().nullable(),
    bill: z
      .object({
        contactId: z.string(),
        contactName: z.string().nullable(),
        publicId: z.string().nullable().describe("Its number"),
        amountCents: z.int(),
        parts,
        dueDate: day.nullable(),
        executionDate: day,
      })
      .nullable()
      .describe(
        "As it was planned last, `executionDate` as it is paid now; null if no run planned it",
      ),
    leftOut: z
      .object({
        runId: z.string(),
        publicId: z.string().nullable(),
        contactName: z.string().nullable(),
        amountCents: z.int(),
        dueDate: day.nullable(),
        code: leftOutCode,
        text: z.string(),
      })
      .nullable()
      .describe("Why the last run left it out; null if one has planned it"),
    paidOnce: z.object({
      verdict: z.enum(PAID_ONCE_VERDICTS),
      way: z.enum(BILL_WAYS).describe("Which way the bill went"),
      serviceAnswered: z
        .boolean()
        .describe("False if the service didn't answer: payments are then as Payrun saw them last"),
      sentences: z.array(z.string()).describe("The conclusion first, then what it rests on"),
    }),
    approvals: z.array(ApprovalBody),
    confirmed: z
      .array(ConfirmedAccounts)
      .describe("Who said, since it was planned, that its vendor's account is still right"),
    refused: z.array(RefusedDecision).describe("Decisions on its runs that don't count"),
    timeline: z.array(
      z.object({
        at: instant,
        kind: z.string(),
        text: z.string(),
        runId: z.string().optional(),
        by: z.string().optional(),
        byKind: z.enum(AUTHOR_KINDS).optional(),
      }),
    ),
    attempts: z.array(AttemptBody).describe("Requests to pay it"),
    payments: z.array(
      z.object({
        id: z.string(),
        amountCents: z.int(),
        status: z.string().describe("As the service says it now, or as it was seen last"),
        failureReason: z.string().nullable(),
        seenAt: instant.nullable(),
        seq: z.int().describe("Number of the request that made it"),
      }),
    ),
    recall: z
      .object({
        by: z.string().nullable().describe("Null if it can't be, or has no known end"),
        why: z.string().nullable().describe("Why it can't be; null if it can"),
      })
      .nullable()
      .describe(
        "Whether its payment can be called back; null if nothing of it is still to be paid",
      ),
    externalPayments: z
      .array(
        z.object({
          id: z.string(),
          amountCents: z.int(),
          status: z.string(),
          failureReason: z.string().nullable(),
          mayBeOurs: z
            .boolean()
            .describe("True if Payrun may have made it before its store was restored"),
        }),
      )
      .describe(
        "Payments of it that the service shows and no request of Payrun is known to have made",
      ),
    retry: z
      .object({
        id: z.string(),
        phase: z.string(),
        retriesMade: z.int(),
        reasonCode: reasonCodeOrNull,
        reason: z.string().nullable(),
      })
      .nullable()
      .describe("The workflow that owns it since a payment of it failed or came back"),
    holds: z.array(HoldBody),
    cancellations: z.array(
      z.object({
        id: z.string(),
        paymentId: z.string().nullable(),
        state: z.string(),
        reason: z.string().nullable(),
      }),
    ),
    cancels: z
      .array(AttemptBody.extend({ paymentId: z.string() }))
      .describe("Requests to cancel its payments"),
    deposits: z
      .array(
        z.object({
          subject: z.string(),
          amountCents: z.int(),
          state: z.string(),
          reason: z.string().nullable(),
          transactionId: z.string().nullable(),
          approvals: z.array(ApprovalBody),
          attempts: z.array(AttemptBody),
        }),
      )
      .describe("Deposits that its runs, or the incident of its account, asked for"),
    trail: z.object({
      entries: z.int(),
      changed: z.array(z.int()).describe("Ids of entries that are not what was written"),
    }),
  })
  .openapi("PayableHistory");

export type PayableHistory = Shown<typeof HistoryBody>;
