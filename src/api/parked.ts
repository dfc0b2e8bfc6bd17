import { z } from "@hono/zod-openapi";
import { reasonCodeOrNull } from "./codes.ts";
import { parts } from "./schemas.ts";
import type { Shown } from "./shown.ts";
import { day } from "./times.ts";

/** A bill that waits for a person. */
const parkedBill = z.object({
  payableId: z.string(),
  publicId: z.string().nullable(),
  contactId: z.string(),
  contactName: z.string().nullable(),
  business: z.string(),
  amountCents: z.int(),
  parts,
  dueDate: day.nullable(),
  runId: z.string(),
  reasonCode: reasonCodeOrNull,
  reason: z.string().nullable(),
  roles: z.array(z.string()).describe("Any of these decides"),
});

export const ParkedBody = z
  .object({
    items: z.array(parkedBill).describe("By cause, the largest first"),
    totalCount: z.int(),
    totalCents: z.int().describe("What of them is open"),
    nextPage: z.int().nullable().describe("Null on the last page"),
  })
  .openapi("ParkedBills");

export type ParkedBillView = Shown<typeof ParkedBody>["items"][number];
