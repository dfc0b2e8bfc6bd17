import { z } from "@hono/zod-openapi";
import { LINE_STATES } from "../contracts/line-states.ts";
import { billSum, newDates, notSent, waitingLines } from "./approvals.ts";
import { errorCode } from "./codes.ts";
import type { Shown } from "./shown.ts";
import { moment, sendsAfterLoss } from "./moment.ts";
import { instant } from "./times.ts";

/** Shapes of the gateway's answers, for the OpenAPI document and for tests. */

/** The events that started something. */
export const startingEvents = z.array(
  z.object({ eventId: z.string(), type: z.string(), objectId: z.string() }),
);

export const DecisionBody = z
  .object({
    accepted: z.literal(true),
    decision: z.enum(["approve", "reject"]),
    countsFor: z
      .array(z.string())
      .describe("Payables whose rule the approver's role counts for, at most 1,000 of them"),
    countsForCount: z.int().describe("How many these are in all"),
    dropped: z.array(z.string()).describe("Payables that were left out"),
    leftOut: z
      .string()
      .optional()
      .describe(
        "What that means for the next run, and how to keep them out of it; missing if there are none, or if the service has each of them already",
      ),
    notRecalledCount: z
      .int()
      .optional()
      .describe(
        "How many of the bills that it rejects or leaves out the service has already: they are not sent again if they fail, and not recalled; missing for none",
      ),
    alreadySince: z
      .string()
      .optional()
      .describe("When the same person had decided just this before: present if nothing is new"),
    tooEarly: z
      .array(z.string())
      .optional()
      .describe("Payables that it doesn't count for, because a stage before it is open"),
    goesOut: billSum.describe("Bills that go out because of it"),
    newDates,
    onHold: billSum.describe("Bills that nothing but a hold keeps from going out"),
    notSent,
    missing: z
      .array(waitingLines)
      .describe("Rules whose quorum is still open, with the lines that wait for it"),
    sends: sendsAfterLoss.optional().describe("Missing if what goes out is sent at once"),
    summary: z.string().describe("What goes out and what is still needed, in a sentence"),
  })
  .openapi("Decision");

const playbook = z
  .object({
    name: z.string(),
    kind: z.string(),
    business: z.string(),
    revision: z.int(),
    author: z.string(),
    createdAt: instant,
  })
  .openapi("Playbook");

export const PlaybookListBody = z.object({ items: z.array(playbook), zone: moment.zone });

export const PlaybookRevisionsBody = z.object({
  name: z.string(),
  business: z.string(),
  zone: moment.zone,
  items: z.array(
    z.object({
      revision: z.int(),
      text: z.string(),
      author: z.string(),
      createdAt: instant,
      hash: z.string().describe("SHA-256 of the text, in hexadecimal, as `sha256sum FILE` says it"),
    }),
  ),
});

export const AppliedPlaybookBody = z.object({
  name: z.string(),
  business: z.string(),
  revision: z.int(),
  changed: z.boolean(),
  note: z.string().optional().describe("What to know about it, such as a missing playbook"),
  proposal: z
    .string()
    .optional()
    .describe("Hash of the text that waits for a second person; `revision` is what it becomes"),
});

export const parts = z
  .object({ settledCents: z.int(), onItsWayCents: z.int(), openCents: z.int() })
  .optional()
  .describe("How much has settled, is on its way and is open; missing if all of it is the same");

export const ResolutionBody = z
  .object({
    payableId: z.string(),
    publicId: z.string().nullable(),
    contactName: z.string().nullable(),
    amountCents: z.int(),
    parts,
    business: z.string(),
    action: z.enum(["retry", "paid-elsewhere", "give-up"]),
    runId: z.string(),
    state: z.enum(LINE_STATES),
    workflowId: z.string().optional().describe("Workflow that retries it"),
    holdId: z.string().optional().describe("Hold that keeps later runs from paying it"),
    approvalEnded: z
      .string()
      .optional()
      .describe(
        "Why it is not paid again under its approval: the next run plans it and asks for another",
      ),
    onHold: z
      .array(z.string())
      .optional()
      .describe("Of a retry: the holds that apply to it, each with the command that ends it"),
  })
  .openapi("Resolution");

export const BulkResolutionBody = z.object({
  next: z.string().nullable().describe("If there are more: `after` of the next request"),
  resolved: z.array(ResolutionBody),
  refused: z.array(
    z.object({
      payableId: z.string(),
      publicId: z.string().nullable(),
      contactName: z.string().nullable(),
      business: z.string(),
      error: errorCode,
      message: z.string(),
    }),
  ),
});

export type DecisionView = Shown<typeof DecisionBody>;
export type AppliedPlaybook = Shown<typeof AppliedPlaybookBody>;
export type PlaybookRevision = Shown<typeof PlaybookRevisionsBody>["items"][number];
export type ResolutionView = Shown<typeof ResolutionBody>;

export const sumGivenBack = z
  .object({ count: z.int(), cents: z.int() })
  .optional()
  .describe("The part of `byState.parked` that waits for no person: another run plans it, or has");

export const givenBack = z
  .literal(true)
  .optional()
  .describe("A parked bill that waits for no person: another run plans it, or has");
