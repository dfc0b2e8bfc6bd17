import { z } from "@hono/zod-openapi";
import { LINE_STATES } from "../contracts/line-states.ts";
import { reasonCodeOrNull } from "./codes.ts";
import { HoldBody } from "./holds.ts";
import { givenBack, parts } from "./schemas.ts";
import type { Shown } from "./shown.ts";
import { day } from "./times.ts";

const vendorBill = z.object({
  payableId: z.string(),
  publicId: z.string().nullable(),
  runId: z.string(),
  amountCents: z.int(),
  parts,
  dueDate: day.nullable(),
  executionDate: day,
  state: z.enum(LINE_STATES),
  givenBack,
  reasonCode: reasonCodeOrNull,
  reason: z.string().nullable(),
});

/** A vendor: its bank account, its bills in runs, its payments and its holds. */
export const VendorBody = z
  .object({
    contactId: z.string(),
    business: z.string(),
    name: z.string().nullable(),
    status: z.string().nullable().describe("As the service says; null if it can't be asked"),
    paymentReady: z.boolean().nullable(),
    bankLast4: z.string().nullable(),
    changedAt: z
      .string()
      .nullable()
      .describe("When any part of its record at the service was last changed"),
    accounts: z
      .array(z.object({ last4: z.string().nullable(), since: z.string(), runId: z.string() }))
      .describe("Accounts that runs have planned payments to, newest first: since which run"),
    bills: z.array(vendorBill).describe("Its latest bills in runs, at most 200"),
    payments: z
      .array(
        z.object({
          paymentId: z.string(),
          payableId: z.string().nullable(),
          amountCents: z.int(),
          status: z.string(),
          on: day,
        }),
      )
      .nullable()
      .describe("The service's last ones, newest first; null if it can't be asked"),
    holds: z.array(HoldBody).describe("In force"),
  })
  .openapi("Vendor");

export type Vendor = Shown<typeof VendorBody>;
