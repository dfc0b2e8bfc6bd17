import { z } from "zod";

import {
  CANCELLATION_KINDS,
  CANCELLATION_PHASES,
  CANCELLATION_STATES,
  type CancellationStatus,
} from "../../contracts/cancellation.ts";
import { INCIDENT_PHASES, type IncidentStatus } from "../../contracts/incident.ts";
import { ONBOARDING_PHASES, type OnboardingStatus } from "../../contracts/onboarding.ts";
import { historyShape } from "./history-shape.ts";
import {
  LINE_STATES,
  RUN_PHASES,
  type DryPlanPage,
  type RunStatus,
} from "../../contracts/pay-run.ts";

import { topUp } from "./deposit-shapes.ts";

/**
 * An answer of the gateway, passed on to `--json` as it is once it has been seen to hold what the
 * commands read of it.
 */
function answer<T>(needed: z.ZodType): z.ZodType<T> {
  return z.custom<T>((value) => needed.safeParse(value).success);
}

const planSummary = z.object({
  planHash: z.string(),
  lineCount: z.int(),
  totalCents: z.int(),
  flaggedCount: z.int(),
  skippedByCode: z.record(z.string(), z.int()),
  cash: z.array(z.object({ date: z.string(), neededCents: z.int() })),
});

const payment = z.object({
  payableId: z.string(),
  amountCents: z.int(),
  state: z.enum(LINE_STATES),
  paymentIds: z.array(z.string()),
  flags: z.array(z.object({ kind: z.string(), text: z.string() })),
  approvers: z.array(z.string()),
  quorum: z.int(),
  approvedBy: z.array(z.string()),
});

const runShape = z.object({
  id: z.string(),
  kind: z.string(),
  phase: z.enum(RUN_PHASES),
  counts: z.record(z.string(), z.int()),
  totalCents: z.int(),
  payments: z.array(payment),
  plan: planSummary.optional(),
});

export const runStatus = answer<RunStatus>(runShape);

const onboarding = z.object({
  id: z.string(),
  kind: z.literal("kyb-onboarding"),
  phase: z.enum(ONBOARDING_PHASES),
  ended: z.boolean(),
  waitingFor: z.string().nullable(),
  provided: z.array(z.object({ step: z.string(), state: z.string() })),
  proposal: z.object({ name: z.string(), text: z.string() }).nullable(),
});

export const onboardingStatus = answer<OnboardingStatus>(onboarding);

const cancellation = z.object({
  id: z.string(),
  kind: z.enum(CANCELLATION_KINDS),
  phase: z.enum(CANCELLATION_PHASES),
  waitingFor: z.string().nullable(),
  reason: z.string(),
  launchedBy: z.string(),
  counts: z.record(z.string(), z.int()),
  payments: z.array(
    z.object({
      paymentId: z.string().nullable(),
      payableId: z.string().nullable(),
      amountCents: z.int(),
      state: z.enum(CANCELLATION_STATES),
      reason: z.string().nullable(),
      holdId: z.string().nullable(),
      releaseBy: z.string().nullable(),
    }),
  ),
});

export const cancellationStatus = answer<CancellationStatus>(cancellation);

const incident = z.object({
  id: z.string(),
  kind: z.literal("funding-incident"),
  phase: z.enum(INCIDENT_PHASES),
  waitingFor: z.string().nullable(),
  reason: z.string(),
  totalCents: z.int(),
  topUps: z.array(topUp),
  payments: z.array(
    z.object({
      payableId: z.string(),
      amountCents: z.int(),
      state: z.string(),
      reason: z.string().nullable(),
    }),
  ),
});

/** Whatever has a status, by its kind. */
export const anyStatus = answer<RunStatus | OnboardingStatus | CancellationStatus | IncidentStatus>(
  z.union([onboarding, cancellation, incident, runShape]),
);

export const planAnswer = answer<DryPlanPage>(
  planSummary.extend({
    planId: z.string(),
    pageSize: z.int(),
    nextPage: z.int().nullable(),
    playbook: z.string(),
    period: z.string(),
    lines: z.array(z.object({ payableId: z.string(), amountCents: z.int() })),
    skipped: z.array(z.object({ payableId: z.string(), code: z.string(), text: z.string() })),
  }),
);

const runItem = z.object({
  id: z.string(),
  business: z.string(),
  kind: z.string(),
  playbook: z.string(),
  period: z.string(),
  phase: z.string(),
  waitingFor: z.string().nullable(),
  totalCents: z.int(),
  launchedBy: z.string(),
});

export type RunItem = z.infer<typeof runItem>;

export const runList = answer<{ readonly items: readonly RunItem[] }>(
  z.object({ items: z.array(runItem) }),
);

const decision = z.object({
  accepted: z.literal(true),
  decision: z.enum(["approve", "reject"]),
  countsFor: z.array(z.string()),
  countsForCount: z.int(),
  dropped: z.array(z.string()),
  tooEarly: z.array(z.string()).optional(),
  missing: z.array(
    z.object({
      by: z.array(z.string()),
      quorum: z.int(),
      approvals: z.int(),
      lines: z.int(),
      totalCents: z.int(),
      stage: z.int().optional(),
      stages: z.int().optional(),
    }),
  ),
});

export type Decision = z.infer<typeof decision>;
export const decisionAnswer = answer<Decision>(decision);

const hold = z.object({
  id: z.string(),
  scope: z.string(),
  value: z.string(),
  reason: z.string(),
  author: z.string(),
  until: z.string().nullable(),
  note: z.string().optional(),
});

export type Hold = z.infer<typeof hold>;
export const holdAnswer = answer<Hold>(hold);
export const holdList = answer<{
  readonly items: readonly Hold[];
  readonly nextPage: number | null;
}>(z.object({ items: z.array(hold), nextPage: z.int().nullable() }));

const playbook = z.object({
  name: z.string(),
  business: z.string(),
  revision: z.int(),
  changed: z.boolean(),
  proposal: z.string().optional(),
  note: z.string().optional(),
});
export type AppliedPlaybook = z.infer<typeof playbook>;
export const appliedPlaybook = answer<AppliedPlaybook>(playbook);

const playbookRevision = z.object({
  revision: z.int(),
  text: z.string(),
  author: z.string(),
  createdAt: z.string(),
  hash: z.string(),
});
export type PlaybookRevision = z.infer<typeof playbookRevision>;
export const playbookRevisions = answer<{
  readonly business: string;
  readonly items: readonly PlaybookRevision[];
}>(z.object({ business: z.string(), items: z.array(playbookRevision) }));
const storedPlaybooks = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      business: z.string(),
      revision: z.int(),
      author: z.string(),
      createdAt: z.string(),
    }),
  ),
});
export const playbookList = answer<z.infer<typeof storedPlaybooks>>(storedPlaybooks);

const schedule = z.object({
  playbook: z.string(),
  business: z.string(),
  state: z.enum(["active", "paused", "missing", "differs"]),
  paused: z.boolean(),
  note: z.string().nullable(),
  zone: z.string(),
  next: z.array(z.object({ period: z.string(), beginsAt: z.string(), payDate: z.string() })),
});
export type Schedule = z.infer<typeof schedule>;
export const scheduleAnswer = answer<Schedule>(schedule);
const schedules = z.object({
  items: z.array(schedule),
  problems: z.array(z.object({ playbook: z.string(), message: z.string() })),
});
export const scheduleList = answer<z.infer<typeof schedules>>(schedules);
export const deletedSchedule = answer<{ readonly playbook: string }>(
  z.object({ playbook: z.string() }),
);
const backfilled = z.object({
  items: z.array(z.object({ period: z.string(), id: z.string(), created: z.boolean() })),
});
export const backfillAnswer = answer<z.infer<typeof backfilled>>(backfilled);

const resolution = z.object({
  payableId: z.string(),
  action: z.string(),
  state: z.string(),
  workflowId: z.string().optional(),
  approvalEnded: z.string().optional(),
});

export type Resolution = z.infer<typeof resolution>;
export const resolutionAnswer = answer<Resolution>(resolution);
export const bulkResolution = answer<{
  readonly resolved: readonly Resolution[];
  readonly refused: readonly { readonly payableId: string; readonly message: string }[];
  readonly next: string | null;
}>(
  z.object({
    next: z.string().nullable(),
    resolved: z.array(resolution),
    refused: z.array(z.object({ payableId: z.string(), message: z.string() })),
  }),
);

export type PayableHistory = z.infer<typeof historyShape>;
export const payableHistory = answer<PayableHistory>(historyShape);

const report = z.object({
  topUps: z.array(topUp).optional(),
  id: z.string(),
  phase: z.enum(RUN_PHASES),
  bills: z.int(),
  totalCents: z.int(),
  settledBills: z.int(),
  settledCents: z.int(),
  byState: z.record(z.string(), z.object({ count: z.int(), cents: z.int() })),
  decisions: z.object({
    singlePerson: z.boolean(),
    counted: z.array(
      z.object({
        by: z.string(),
        roles: z.array(z.string()),
        decision: z.string(),
        at: z.string(),
        alone: z.boolean(),
      }),
    ),
    refused: z.array(
      z.object({
        by: z.string(),
        at: z.string(),
        code: z.string(),
        reason: z.string(),
        times: z.int(),
      }),
    ),
  }),
  exceptions: z.array(
    z.object({
      payableId: z.string(),
      publicId: z.string().nullable(),
      contactName: z.string().nullable(),
      amountCents: z.int(),
      state: z.string(),
      reason: z.string().nullable(),
    }),
  ),
});

export type Report = z.infer<typeof report>;
export const reportAnswer = answer<Report>(report);
