import { AUTHOR_KINDS } from "../contracts/authors.ts";
import { z } from "@hono/zod-openapi";
import { CANCELLATION_KINDS } from "../contracts/cancellation.ts";
import { billSum } from "./approvals.ts";
import { topUpStatus } from "./deposits.ts";
import { moment } from "./moment.ts";
import { stateSums } from "./report.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

/** A run whose bills wait for approvals, as one person sees it. */
const waitingRun = z.object({
  id: z.string(),
  business: z.string(),
  playbook: z.string(),
  period: z.string(),
  launchedBy: z.string(),
  waiting: billSum.describe("Bills that wait for anyone's approval"),
  yours: billSum.describe("Those of them that wait for the caller"),
  decideBy: instant.nullable().describe("The time after which approving changes dates"),
  waitsFor: z.array(z.string()).describe("Roles that decide now about the others"),
});

/** A deposit that waits for an approval, as one person sees it. */
const waitingDeposit = topUpStatus
  .extend({
    runId: z.string().describe("The run that asks for it"),
    business: z.string(),
    playbook: z.string(),
    period: z.string(),
    planHash: z.string().nullable().describe("What a decision about it names as well"),
    yours: z.boolean().describe("True if it waits for the caller"),
  })
  .openapi("WaitingDeposit");

/** Bills that are held back until a person releases them, as one person sees them. */
const waitingRelease = z
  .object({
    id: z.string().describe("What holds them back"),
    business: z.string(),
    playbook: z.string(),
    runId: z.string().describe("The run of the bills"),
    bills: billSum,
    holds: z.array(z.string()).describe("The holds to release"),
    releasedBy: z.array(z.string()).describe("Roles that may release them"),
    releaseBy: instant.nullable().describe("The first time after which one isn't paid on its date"),
    yours: z.boolean().describe("True if the caller may release them"),
  })
  .openapi("WaitingRelease");

/** A cancellation that ended with something for a person to attend to, as one person sees it. */
const waitingCancellation = z
  .object({
    id: z.string(),
    kind: z.enum(CANCELLATION_KINDS),
    business: z.string(),
    launchedBy: z.string(),
    launchedByKind: z.enum(AUTHOR_KINDS),
    waitingFor: z
      .string()
      .describe(
        "What can be done and until when, as its status says it, except for what is released",
      ),
    roles: z.array(z.string()).describe("Any of these sees to it"),
    yours: z.boolean().describe("True if the caller is among them"),
  })
  .openapi("WaitingCancellation");

export const OverviewBody = z
  .object({
    businesses: z.array(
      z.object({
        business: z.string(),
        ...moment,
        parked: billSum.describe("Bills that a person must act on"),
        incidents: z.int().describe("Funding accounts that bounced and are not decided"),
        days: z
          .array(z.object({ date: day, byState: stateSums }))
          .describe("What is paid on each day of this week and the next, in New York"),
      }),
    ),
    waiting: z.array(waitingRun).describe("The nearest deadline first"),
    releases: z.array(waitingRelease).describe("The nearest time first"),
    deposits: z.array(waitingDeposit).describe("Of runs, by the day on which they must be made"),
    cancellations: z.array(waitingCancellation).describe("The newest first"),
  })
  .openapi("Overview");

export type Overview = Shown<typeof OverviewBody>;
export type WaitingRun = Overview["waiting"][number];
export type WaitingRelease = Overview["releases"][number];
export type WaitingCancellation = Overview["cancellations"][number];
export type WaitingDeposit = Overview["deposits"][number];
