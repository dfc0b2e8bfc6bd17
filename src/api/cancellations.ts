import { z } from "@hono/zod-openapi";
import {
  CANCELLATION_KINDS,
  CANCELLATION_PHASES,
  CANCELLATION_STATES,
} from "../contracts/cancellation.ts";
import { startingEvents } from "./schemas.ts";
import { moment } from "./moment.ts";
import type { Shown } from "./shown.ts";
import { contactId, stand } from "./stand.ts";
import { instant } from "./times.ts";

export const CancellationStatusBody = z
  .object({
    id: z.string(),
    kind: z.enum(CANCELLATION_KINDS),
    business: z.string(),
    zone: moment.zone,
    playbook: z
      .string()
      .nullable()
      .describe("Null if none asked for it, but a person or an incident"),
    phase: z.enum(CANCELLATION_PHASES),
    waitingFor: z.string().nullable(),
    releasedBy: z
      .array(z.string())
      .describe("Roles that release what it holds back; empty if it cancels"),
    ...stand,
    counts: z.partialRecord(z.enum(CANCELLATION_STATES), z.int()),
    totalCents: z.int(),
    planHash: z.null(),
    reason: z.string(),
    launchedBy: z.string(),
    startedBy: startingEvents.optional(),
    payments: z.array(
      z.object({
        paymentId: z
          .string()
          .nullable()
          .describe("Null for a bill of which nothing was sent, or whose request is under way"),
        payableId: z.string().nullable(),
        publicId: z.string().nullable().describe("The bill's number"),
        contactId,
        contactName: z.string().nullable(),
        amountCents: z.int(),
        state: z.enum(CANCELLATION_STATES),
        reason: z.string().nullable().describe("What happened and where the money went"),
        holdId: z.string().nullable().describe("Keeps the bill from being paid again"),
        releaseBy: instant.nullable(),
      }),
    ),
    totalCount: z.int().describe("Payments and bills on all pages"),
    page: z.int(),
    pageSize: z.int(),
    nextPage: z.int().nullable().describe("Null on the last page"),
  })
  .openapi("CancellationStatus");

export type CancellationStatus = Shown<typeof CancellationStatusBody>;
export type CancellationPaymentStatus = CancellationStatus["payments"][number];
