import { z } from "@hono/zod-openapi";
import { INCIDENT_PHASES } from "../contracts/incident.ts";
import { LINE_STATES } from "../contracts/line-states.ts";
import { reasonCode, reasonCodeOrNull } from "./codes.ts";
import { topUpStatus } from "./deposits.ts";
import { billsTotal, HoldBody } from "./holds.ts";
import type { Shown } from "./shown.ts";
import { contactId, stand } from "./stand.ts";
import { day, instant } from "./times.ts";

const waitingBill = z.object({
  payableId: z.string(),
  publicId: z.string().nullable().describe("The bill's number"),
  contactId,
  contactName: z.string().nullable(),
  amountCents: z.int(),
  state: z.enum(LINE_STATES),
  paymentIds: z.array(z.string()),
  attempts: z.int(),
  reasonCode: reasonCodeOrNull,
  reason: z.string().nullable(),
});

const goesOut = HoldBody.shape.goesOut.unwrap();

const account = z.string().describe("What it is called, with its last four; its id without a name");

const scheduled = z
  .object({
    bills: z.int(),
    totalCents: z.int(),
    cancelBy: instant.nullable().describe("Until when the first can be cancelled"),
    calledBackBy: z
      .string()
      .optional()
      .describe("The cancellation with which Payrun calls them back by itself, while it is at it"),
    payments: z
      .array(
        z.object({
          payableId: z.string(),
          publicId: z.string().nullable().describe("The bill's number"),
          contactId,
          contactName: z.string().nullable(),
          amountCents: z.int(),
          executionDate: day,
        }),
      )
      .describe("The first 100 of them"),
  })
  .optional()
  .describe(
    "What the service has scheduled from the account and can still cancel, until it is decided about",
  );

export const IncidentStatusBody = z
  .object({
    id: z.string(),
    kind: z.literal("funding-incident"),
    business: z.string(),
    source: z.string().describe("The funding account that payments bounced from"),
    account,
    phase: z.enum(INCIDENT_PHASES),
    waitingFor: z.string().nullable(),
    ...stand,
    counts: z.partialRecord(z.enum(LINE_STATES), z.int()),
    totalCents: z.int(),
    planHash: z.null(),
    code: reasonCode,
    reason: z.string(),
    roles: z.array(z.string()).describe("Any of these decides"),
    holdId: z.string(),
    decision: z.string().nullable(),
    decidedBy: z.string().nullable(),
    topUps: z.array(topUpStatus).describe("Deposits that it has asked for, first to last"),
    payments: z.array(waitingBill).describe("Bills that wait for the decision"),
    scheduled,
  })
  .openapi("IncidentStatus");

/** A funding account that bounced, as listed. */
export const IncidentBody = z
  .object({
    id: z.string(),
    business: z.string(),
    source: z.string(),
    account,
    phase: z.enum(["open", "topping-up", "ended"]),
    code: reasonCode,
    reason: z.string(),
    roles: z.array(z.string()).describe("Any of these decides"),
    holdId: z.string(),
    openedAt: instant,
    decision: z.enum(["released", "other-source", "top-up"]).nullable(),
    decidedBy: z.string().nullable(),
    bills: z.int().describe("Bills that wait for the decision"),
    billsCents: z.int(),
    payments: z.array(waitingBill).describe("The first 100 of them"),
    scheduled,
    topUps: z.array(topUpStatus).describe("Deposits that it has asked for, first to last"),
    freed: z
      .object({
        paidAgain: goesOut.describe("Bills that bounced and are paid again"),
        goesOut: goesOut.describe("Others that only the hold on the account applied to"),
        stillOnHold: billsTotal.describe("Bills that bounced and that other holds apply to"),
      })
      .optional()
      .describe("What comes of it, if it was just released"),
  })
  .openapi("Incident");

export const IncidentListBody = z.object({ items: z.array(IncidentBody) });

/** What follows from releasing an account. */
export type Freed = NonNullable<IncidentView["freed"]>;
export type IncidentView = Shown<typeof IncidentBody>;
export type IncidentStatus = Shown<typeof IncidentStatusBody>;
