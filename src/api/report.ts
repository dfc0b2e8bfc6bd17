import { z } from "@hono/zod-openapi";
import { reasonCodeOrNull } from "./codes.ts";
import { ConfirmedAccounts, CountedDecision, RefusedDecision } from "./decisions.ts";
import { topUpStatus } from "./deposits.ts";
import { LINE_STATES } from "../contracts/line-states.ts";
import { RUN_PHASES } from "../contracts/pay-run.ts";
import { moment } from "./moment.ts";
import { givenBack, parts, sumGivenBack } from "./schemas.ts";
import type { Shown } from "./shown.ts";

/** Bills and amounts by state. */
export const stateSums = z.partialRecord(
  z.enum(LINE_STATES),
  z.object({
    count: z.int(),
    cents: z.int().describe("What is in this state, also as a part of a bill in another"),
    parts: z.int().optional().describe("Bills of other states of which a part is among the cents"),
  }),
);

/** Mark of a run that only plans: it says what it would have paid. */
export const planOnly = z
  .literal(true)
  .optional()
  .describe("Present if its playbook's schedule only plans: nothing of it is asked or sent");

export const nothingToPay = z
  .literal(true)
  .optional()
  .describe("Present if it ended without a single bill: a launch of its period plans it again");

export const outcome = z
  .string()
  .optional()
  .describe("What it came to if its phase doesn't say it all: bills that were called back");

export const ReportBody = z
  .object({
    id: z.string(),
    business: z.string(),
    playbook: z.string(),
    period: z.string(),
    zone: moment.zone,
    phase: z.enum(RUN_PHASES),
    outcome,
    planOnly,
    waitingFor: z.string().nullable().describe("As its status says it"),
    bills: z.int().describe("Lines of the run"),
    totalCents: z.int(),
    settledBills: z.int(),
    settledCents: z.int().describe("Net: what has reached the vendors"),
    byState: stateSums,
    givenBack: sumGivenBack,
    decisions: z.object({
      singlePerson: z.boolean().describe("True if one person may launch and approve, or did"),
      counted: z.array(CountedDecision),
      confirmed: z
        .array(ConfirmedAccounts)
        .describe("Who said that vendors' accounts are still right, as far as it counts here"),
      refused: z.array(RefusedDecision),
    }),
    exceptionCount: z.int().describe("Bills with a reason to look at; `exceptions` has the first"),
    exceptions: z.array(
      z.object({
        payableId: z.string(),
        publicId: z.string().nullable(),
        contactName: z.string().nullable(),
        amountCents: z.int(),
        parts,
        state: z.enum(LINE_STATES),
        givenBack,
        reasonCode: reasonCodeOrNull,
        reason: z.string().nullable(),
      }),
    ),
    skipped: z.object({ count: z.int(), byCode: z.record(z.string(), z.int()) }),
    topUps: z.array(topUpStatus).optional().describe("Deposits that it has asked for"),
  })
  .openapi("Report");

export type Report = Shown<typeof ReportBody>;
