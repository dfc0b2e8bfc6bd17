import { z } from "@hono/zod-openapi";
import { refusedDecisionCode } from "./codes.ts";
import { instant } from "./times.ts";

export const hurriedWhen = z
  .string()
  .nullable()
  .describe("When it was given, if its playbook calls that hurried; else null");

/** A decision on a run that counts. */
export const CountedDecision = z.object({
  runId: z.string(),
  by: z.string(),
  roles: z.array(z.string()),
  decision: z.enum(["approve", "reject"]),
  at: instant,
  comment: z.string().nullable(),
  verifiedBankChanges: z
    .array(
      z.object({
        contactId: z.string(),
        contactName: z.string().nullable(),
        person: z.string(),
        phone: z.string(),
      }),
    )
    .describe("How changed bank accounts of vendors were verified"),
  alone: z
    .boolean()
    .describe("True if it counts only because the business lets one person launch and approve"),
  hurry: hurriedWhen,
});

/** An approver's word that accounts of vendors are still right, although their records changed. */
export const ConfirmedAccounts = z.object({
  runId: z.string().describe("The run in which it was said; it counts in others as well"),
  by: z.string(),
  roles: z.array(z.string()),
  at: instant,
  comment: z.string().nullable(),
  records: z.array(
    z.object({
      contactId: z.string(),
      contactName: z.string().nullable(),
      updatedAt: z.string().describe("When the record was changed; empty if it didn't say"),
    }),
  ),
  hurry: hurriedWhen,
});

/** A decision on a run that doesn't count, and why. */
export const RefusedDecision = z.object({
  runId: z.string(),
  by: z.string(),
  at: instant,
  code: refusedDecisionCode,
  reason: z.string().describe("Empty if only what was sent could say it"),
  times: z.int().describe("How often it had come on that day"),
});
