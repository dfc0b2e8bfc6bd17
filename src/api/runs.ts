import { z } from "@hono/zod-openapi";
import { LINE_STATES } from "../contracts/line-states.ts";
import { RUN_PHASES } from "../contracts/pay-run.ts";
import { nothingToPay, outcome, planOnly, stateSums } from "./report.ts";
import { anyReasonCodeOrNull, leftOutCode, reasonCode } from "./codes.ts";
import { orNull } from "./or-null.ts";
import { moment } from "./moment.ts";
import { givenBack, parts, startingEvents, sumGivenBack } from "./schemas.ts";
import { plannedTopUp, topUpStatus } from "./deposits.ts";
import type { Shown } from "./shown.ts";
import { contactId, stand } from "./stand.ts";
import { day, instant } from "./times.ts";

/** Shapes of the gateway's answers about plans and runs. */

/** Who ended a run early, and why. */
const endedBy = z
  .object({ by: z.string(), at: instant, comment: z.string().nullable() })
  .optional();

export const stoppedByPeople = {
  rejected: endedBy.describe("Who has rejected it, and why; missing if nobody has"),
  cancelled: endedBy.describe(
    "Who has cancelled it, and why: what was sent before is followed; missing if nobody has",
  ),
};

const flag = z.object({
  kind: z.string(),
  text: z.string(),
  twins: z.array(z.string()).optional().describe("Payables that it may be a duplicate of"),
});

const fundingChoice = z
  .object({
    sourceId: z.string(),
    rail: z.string(),
    kind: z.string(),
    name: z.string().nullable(),
    last4: z.string().nullable(),
    pay: z.record(z.string(), z.unknown()),
    needsAchAuthorization: z.boolean(),
  })
  .openapi("FundingChoice");

const planSummary = z
  .object({
    planHash: z.string(),
    lineCount: z.int(),
    totalCents: z.int(),
    flaggedCount: z.int(),
    skippedCount: z.int(),
    skippedByCode: z.record(z.string(), z.int()),
    decideBy: instant.nullable(),
    cash: z.array(z.object({ date: day, neededCents: z.int(), leftCents: z.int().nullable() })),
    availableCents: z.int().nullable(),
    reservedCents: z.int(),
    source: orNull(fundingChoice),
    warnings: z.array(z.string()).optional().describe("What to know that concerns no single bill"),
    topUp: plannedTopUp.optional().describe("The deposit into the balance that would cover it"),
  })
  .openapi("PlanSummary");

const span = z.object({ count: z.int(), unit: z.enum(["hours", "days", "business days"]) });

const planLine = z
  .object({
    payableId: z.string(),
    lineHash: z.string(),
    publicId: z.string().nullable(),
    contactId: z.string(),
    contactName: z.string().nullable(),
    description: z.string().nullable(),
    amountCents: z.int(),
    totalCents: z.int(),
    dueDate: day.nullable(),
    executionDate: day,
    arrivalDate: day,
    flags: z.array(flag),
    approvers: z.array(z.string()),
    quorum: z.int(),
    stages: z
      .array(
        z.object({
          by: z.array(z.string()),
          quorum: z.int(),
          escalate: z.object({ after: span, to: z.array(z.string()) }).optional(),
        }),
      )
      .optional()
      .describe("One after the other; missing if one quorum is all that is asked"),
    decideBy: instant.nullable(),
    overLimit: z.object({ code: reasonCode, text: z.string() }).nullable(),
  })
  .openapi("PlanLine");

const skippedLine = z
  .object({
    payableId: z.string(),
    publicId: z.string().nullable(),
    contactId: z.string().nullable(),
    contactName: z.string().nullable(),
    amountCents: z.int(),
    dueDate: day.nullable(),
    code: leftOutCode,
    text: z.string(),
  })
  .openapi("SkippedLine");

export const runPayment = z
  .object({
    payableId: z.string(),
    publicId: z.string().nullable(),
    contactId,
    contactName: z.string().nullable(),
    amountCents: z.int(),
    state: z.enum(LINE_STATES),
    paymentIds: z.array(z.string()),
    parts,
    attempts: z.int(),
    givenBack,
    reasonCode: anyReasonCodeOrNull,
    reason: z.string().nullable(),
    dueDate: day.nullable(),
    executionDate: day.nullable(),
    arrivalDate: day.nullable(),
    flags: z.array(flag),
    approvers: z.array(z.string()),
    quorum: z.int(),
    approvedBy: z.array(z.string()),
    stages: z
      .array(
        z.object({
          by: z.array(z.string()),
          quorum: z.int(),
          approvedBy: z.array(z.string()),
          escalatedTo: z.array(z.string()).describe("Approvers whom only an escalation let decide"),
        }),
      )
      .optional()
      .describe("One after the other; missing if one quorum is all that is asked"),
  })
  .openapi("RunPayment");

const counts = z.partialRecord(z.enum(LINE_STATES), z.int());

export const DryPlanBody = planSummary
  .extend({
    id: z.string().describe("Id that the run of this period has or would have"),
    kind: z.literal("pay-run"),
    phase: z.literal("planning"),
    waitingFor: z.null(),
    counts,
    payments: z.array(runPayment).describe("The page's bills, planned or skipped"),
    business: z.string(),
    playbook: z.string(),
    period: z.string(),
    lines: z.array(planLine).describe("Those of them that would be paid"),
    skipped: z.array(skippedLine).describe("Those of them that are left out; they come last"),
    zone: moment.zone,
    planId: z.string().describe("For GET /v1/plans/{planId}, which has the other pages for a day"),
    totalCount: z.int().describe("Bills on all pages"),
    page: z.int(),
    pageSize: z.int(),
    nextPage: z.int().nullable().describe("Null on the last page"),
  })
  .openapi("Plan");

const waitingApproval = z.object({
  stage: z.int().describe("Of the rule's stages, from 1"),
  stages: z.int(),
  by: z.array(z.string()).describe("Roles that may decide now"),
  quorum: z.int(),
  given: z.int().describe("Approvals that it has"),
  onHold: z.literal(true).optional().describe("Present if a hold applies to them besides"),
  aboutRecord: z
    .literal(true)
    .optional()
    .describe("Present if it is no approval, but a word whether vendors' accounts are still right"),
  lines: z.int(),
  totalCents: z.int(),
  since: instant.nullable().describe("On the business clock"),
  escalatesAt: instant.nullable(),
  escalatesTo: z.array(z.string()),
  escalated: z.boolean(),
});

export const RunStatusBody = z
  .object({
    id: z.string(),
    kind: z.enum(["pay-run", "retry-failed-payment"]),
    business: z.string(),
    playbook: z.string(),
    period: z.string(),
    phase: z.enum(RUN_PHASES),
    outcome,
    nothingToPay,
    planOnly,
    waitingFor: z.string().nullable(),
    ...stand,
    inputs: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("What it was launched with; missing for a failed payment"),
    counts,
    totalCents: z.int(),
    planHash: z.string().nullable(),
    decideBy: instant.nullable(),
    ...moment,
    launchedBy: z.string(),
    startedBy: startingEvents.optional(),
    payments: z.array(runPayment).describe("The page of bills that was asked for"),
    totalCount: z.int().optional().describe("Bills on all pages"),
    page: z.int().optional(),
    pageSize: z.int().optional(),
    nextPage: z.int().nullable().optional().describe("Null on the last page"),
    approvals: z
      .array(waitingApproval)
      .optional()
      .describe("Whom bills wait for, stage by stage; missing if none does"),
    byState: stateSums.optional().describe("Over all bills of the plan, whatever the page"),
    givenBack: sumGivenBack,
    ...stoppedByPeople,
    failure: z.string().optional().describe("Why a failed run could not be planned"),
    undelivered: z.int().optional().describe("Notices about it that have not reached everyone"),
    plan: planSummary.optional(),
    topUps: z.array(topUpStatus).optional().describe("Deposits that it has asked for"),
  })
  .openapi("Run");

export const RunListBody = z.object({
  totalCount: z.int().describe("Entries on all pages"),
  page: z.int(),
  pageSize: z.int(),
  nextPage: z.int().nullable().describe("Null on the last page"),
  items: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      business: z.string(),
      playbook: z.string().nullable().describe("Null if it has none"),
      period: z.string().nullable().describe("Null if the kind has none"),
      phase: z.string(),
      outcome,
      planOnly,
      waitingFor: z.string().nullable(),
      totalCents: z.int(),
      publicId: z.string().nullable().optional().describe("Number of the bill that it is about"),
      contactName: z.string().nullable().optional().describe("Vendor of the bill"),
      planHash: z.string().nullable(),
      launchedBy: z.string().nullable().describe("Null if nobody did: a payment failed"),
      ...stand,
    }),
  ),
});

export type RunList = Shown<typeof RunListBody>;
export type ListedRun = RunList["items"][number];
export type RunStatus = Shown<typeof RunStatusBody>;
/** A bill of a run, as its status shows it. */
export type RunPaymentStatus = RunStatus["payments"][number];
/** Bills that wait for the same people. */
export type WaitingApproval = Shown<typeof waitingApproval>;
/** One stage of a bill's approval. */
export type StageStatus = NonNullable<RunPaymentStatus["stages"]>[number];
/** Bills and amounts by state. */
export type StateSums = Shown<typeof stateSums>;
export type PlanFigures = Shown<typeof planSummary>;
export type DryPlanAnswer = Shown<typeof DryPlanBody>;
