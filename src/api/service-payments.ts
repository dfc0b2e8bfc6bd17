import { z } from "@hono/zod-openapi";
import type { Shown } from "./shown.ts";
import { instant } from "./times.ts";

/** A payment as the service shows it, and whether the store knows it. */
const listedPayment = z.object({
  id: z.string(),
  createdAt: z.string().nullable(),
  status: z.string(),
  amountCents: z.int(),
  contactId: z.string().nullable(),
  contactName: z.string().nullable(),
  payableId: z.string().nullable(),
  publicId: z.string().nullable(),
  failureReason: z.string().nullable(),
  onRecord: z.boolean().describe("True if a request that the store knows of has made it"),
  mayBeOurs: z.boolean().describe("True if Payrun may have made it before its store was restored"),
  beingFoundOut: z
    .boolean()
    .describe("True while a request for its bill has no final response yet: it may have made it"),
});

export const ServicePaymentsBody = z
  .object({
    business: z.string(),
    since: instant,
    zone: z.string(),
    items: z.array(listedPayment).describe("Newest first"),
    totalCount: z.int().describe("Payments of all pages, as the service counts them"),
    nextPage: z
      .int()
      .nullable()
      .describe("Null on the last page. What is made meanwhile may repeat, but leaves nothing out"),
  })
  .openapi("ServicePayments");

export type ServicePayments = Shown<typeof ServicePaymentsBody>;
