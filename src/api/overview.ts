import { z } from "@hono/zod-openapi";
import { billSum } from "./approvals.ts";
import { moment } from "./moment.ts";
import { stateSums } from "./report.ts";
import type { Shown } from "./shown.ts";

/** A run whose bills wait for approvals, as one person sees it. */
const waitingRun = z.object({
  id: z.string(),
  business: z.string(),
  playbook: z.string(),
  period: z.string(),
  launchedBy: z.string(),
  waiting: billSum.describe("Bills that wait for anybody's approval"),
  yours: billSum.describe("Those of them that wait for the one who asks"),
  decideBy: z.string().nullable().describe("From when on approving changes dates"),
  waitsFor: z.array(z.string()).describe("Roles that decide now about the others"),
});

export const OverviewBody = z
  .object({
    businesses: z.array(
      z.object({
        business: z.string(),
        ...moment,
        parked: billSum.describe("Bills that a person must act on"),
        incidents: z.int().describe("Funding accounts that bounced and are not decided"),
        days: z
          .array(z.object({ date: z.string(), byState: stateSums }))
          .describe("What is paid on each day of this week and the next, in New York"),
      }),
    ),
    waiting: z.array(waitingRun).describe("The nearest deadline first"),
  })
  .openapi("Overview");

export type Overview = Shown<typeof OverviewBody>;
export type WaitingRun = Overview["waiting"][number];
