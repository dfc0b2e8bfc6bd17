import { z } from "zod";
import { isRecord } from "../../../contracts/is-record.ts";
import {
  OVER_PER,
  PAY_ON,
  REVIEW_REASONS,
  REVIEWED_BY_DEFAULT,
  WHEN_LATE,
  WHEN_SHORT,
} from "../../../contracts/playbook.ts";
import { BUILT_IN_FAILURES } from "../../../domain/retries/policy.ts";
import {
  accounting,
  business,
  condition,
  moneyAmount,
  moneyMeta,
  notify,
  read,
  remittance,
  schedule,
} from "../../blocks.ts";
import { events } from "../../events.ts";
import { readDue, readFailurePlaybook, readFundingSource } from "../../field-texts.ts";
import { readDays } from "../../texts.ts";
import { approvers, quorum } from "./approvers.ts";
import { hurryRule } from "./hurry-schema.ts";
import { arrivesAfter, arrivesAfterMeta, topUp } from "./top-up-schema.ts";
import { changedRecord, escalate, remindRule } from "./waiting-schema.ts";

const select = z
  .strictObject({
    due: read(readDue)
      .prefault("before-next-run")
      .meta({
        description:
          "Which approved bills to pay: due before the next run, due within so many days, or all. Overdue bills are always in; bills already on their way, on hold or not payable are always out.",
        type: "string",
        pattern: "^(before-next-run|all|within [0-9]+ days?)$",
        examples: ["before-next-run", "within 7 days", "all"],
      }),
  })
  .meta({ description: "Which bills to pay.", examples: [{ due: "within 7 days" }] });

/** How many business days the money is on its way if a playbook doesn't say it, by `clearing`. */
export const ARRIVAL_BUSINESS_DAYS = { standard: 3, "next-available": 1 } as const;

const pay = z
  .strictObject({
    on: z.enum(PAY_ON).default("arrives-by-due-date").meta({
      description:
        "On which day: each bill so that its money arrives by its due date, or every bill on the next business day.",
    }),
    from: read(readFundingSource)
      .prefault("default")
      .meta({
        description: "The funding source: `default`, `balance`, or a source's id.",
        type: "string",
        examples: ["default", "balance"],
      }),
    whenShort: z.enum(WHEN_SHORT).default("most-urgent-first").meta({
      description:
        "If the money does not cover every bill: pay the most urgent first, wait until it covers all, or stop.",
    }),
    clearing: z.enum(["standard", "next-available"]).default("standard").meta({
      description:
        "How fast the ACH network clears. `next-available` needs accelerated clearing on the account.",
    }),
    arrivesAfter: arrivesAfter.optional().meta({
      ...arrivesAfterMeta,
      description: `How long the money is on its way. Default: ${ARRIVAL_BUSINESS_DAYS.standard} business days, ${ARRIVAL_BUSINESS_DAYS["next-available"]} with \`clearing: next-available\`.`,
    }),
    topUp: topUp.optional(),
  })
  .meta({
    description: "When to pay, and from where.",
    examples: [{ on: "arrives-by-due-date", from: "default" }],
  });

const limits = z
  .strictObject({
    bill: moneyAmount.optional().meta({
      ...moneyMeta,
      description: "The most to pay on one bill.",
      examples: ["$50k"],
    }),
    vendorPerWeek: moneyAmount.optional().meta({
      ...moneyMeta,
      description: "The most to pay one vendor in a week, all runs together.",
      examples: ["$75k"],
    }),
    businessPerWeek: moneyAmount.optional().meta({
      ...moneyMeta,
      description: "The most the business pays in a week, all runs together.",
      examples: ["$250k"],
    }),
  })
  .meta({
    description:
      "What is above a limit waits for a person; the rest of the run goes on. Weeks run Monday to Sunday in New York, by execution date. Without a limit there is none.",
    examples: [{ bill: "$50k", vendorPerWeek: "$75k", businessPerWeek: "$250k" }],
  });

const stage = z
  .strictObject({
    by: approvers("Roles; an approver of this stage needs one of them."),
    quorum,
    escalate: escalate.optional(),
  })
  .meta({ examples: [{ by: ["controller"] }] });

const overAlone = moneyAmount.transform((amount) => ({ amount, per: "bill" as const }));

const overSum = z.strictObject({ amount: moneyAmount, per: z.enum(OVER_PER).default("bill") });

/** `$25k`, or `{ amount: $25k, per: vendor-week }`. */
const over = z
  .unknown()
  .transform((input, context): z.output<typeof overSum> => {
    const parsed = (isRecord(input) ? overSum : overAlone).safeParse(input);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      context.issues.push({ ...issue, input } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  })
  .optional()
  .meta({
    type: ["string", "object"],
    pattern: moneyMeta.pattern,
    properties: {
      amount: { ...moneyMeta, description: "The amount.", examples: ["$25k"] },
      per: {
        type: "string",
        enum: OVER_PER,
        default: "bill",
        description:
          "What is compared with it: the bill; with it, all that the run pays its vendor; or with it, all that its vendor is paid in a week, in any run.",
      },
    },
    required: ["amount"],
    additionalProperties: false,
    description:
      "Matches only bills above this amount; the whole bill counts, also if a part of it is paid.",
    examples: ["$25k", { amount: "$25k", per: "vendor-week" }],
  });

/** One entry of `approve`; exported separately because rules are compared with each other. */
export const approvalRuleSchema = z
  .strictObject({
    when: z.literal("review").optional().meta({
      description: "Matches only bills that were flagged for review.",
    }),
    over,
    where: condition("approve")
      .optional()
      .meta({
        description:
          "Matches only bills that satisfy this CEL condition; it may ask for `payable.flags`.",
        type: "string",
        examples: ['payable.vendor.name.startsWith("Acme")'],
      }),
    by: approvers(
      "Roles; an approver needs one of them. They are the roles that tokens are made with.",
    ).optional(),
    quorum,
    stages: z
      .array(stage)
      .min(1, { error: "nobody could approve: `stages` has no stage" })
      .max(5, { error: "`stages` has more than 5 stages" })
      .optional()
      .meta({
        description:
          "Instead of `by`: approvals one after the other. A stage's decisions count once the one before has its quorum, and nobody counts in two.",
        examples: [[{ by: ["controller"] }, { by: ["owner"], quorum: 2 }]],
      }),
    escalate: escalate.optional(),
  })
  .superRefine((rule, context) => {
    if (rule.by !== undefined || rule.stages !== undefined) return;
    context.addIssue({ code: "custom", path: ["by"], message: "`by` is missing" });
  })
  .meta({ examples: [{ by: ["controller", "owner"] }] });

const ONE_APPROVAL = [{ by: ["controller", "owner"] }];

const rules = z
  .array(approvalRuleSchema)
  .min(1, { error: "nobody could approve: `approve` has no rule" })
  .max(50, { error: "`approve` has more than 50 rules" });

/** `approve` as a mapping. */
const approve = z.strictObject({
  rules: rules.prefault(ONE_APPROVAL).meta({
    description: "The rules.",
    examples: [[{ over: "$25k", by: ["owner"] }, { by: ["controller", "owner"] }]],
  }),
  hurry: hurryRule.optional(),
});

/**
 * A pay-run playbook as its author writes it, with the defaults. They are safe: nothing is paid
 * without an approval, and a decision that comes too late is requested again.
 */
export const payRunSchema = z
  .strictObject({
    kind: z.literal("pay-run").meta({ description: "What the playbook does: pay bills." }),
    business,
    schedule: schedule.optional(),
    select: select.prefault({}),
    where: condition("select")
      .optional()
      .meta({
        description:
          "A CEL condition that a bill must satisfy as well. It sees `payable`; amounts are in cents.",
        type: "string",
        examples: ['payable.description.contains("rent")'],
      }),
    pay: pay.prefault({}),
    limits: limits.prefault({}),
    review: z
      .array(z.enum(REVIEW_REASONS))
      .default([...REVIEWED_BY_DEFAULT])
      .meta({
        description:
          "Which oddities put a bill in review. `changed-record` is always flagged, and in review only if it is named here.",
        examples: [[...REVIEWED_BY_DEFAULT]],
      }),
    approve: z
      .union([rules.transform((written) => ({ rules: written, hurry: undefined })), approve])
      .prefault(ONE_APPROVAL)
      .meta({
        description:
          "Who must approve, bill by bill: a list of rules of which the first that matches counts and the last must match every bill, or a mapping of `rules` and `hurry`.",
        examples: [[{ over: "$25k", by: ["owner"] }, { by: ["controller", "owner"] }]],
      }),
    approvalValid: read((input) =>
      readDays(input, { unit: "days", min: 1, max: 365, example: "30 days" }),
    )
      .prefault("30 days")
      .meta({
        description: "How long an approval holds, retries included.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        examples: ["30 days"],
      }),
    remind: remindRule.optional(),
    changedRecord: changedRecord.optional(),
    escalate: escalate.optional(),
    late: z.enum(WHEN_LATE).default("ask").meta({
      description:
        "If a decision comes too late for the planned dates: ask again with new dates, or pay on the next business day.",
    }),
    onFailure: read(readFailurePlaybook)
      .prefault(BUILT_IN_FAILURES)
      .meta({
        description: `The retry-failed playbook that looks after failed payments. \`${BUILT_IN_FAILURES}\` is built in, until one of that name is stored.`,
        type: "string",
        examples: ["retry-failed"],
      }),
    notify: notify.prefault({}),
    remittance: remittance.optional(),
    accounting: accounting.optional(),
    events: events(
      "pay-run",
      "Events on which the bill they are about is paid off-cycle, unless a run has it already: under the same condition, limits, approvals and source, whatever its due date.",
    ),
  })
  .meta({
    title: "Pay run",
    description: "Which bills to pay, when, with whose approval.",
  });

/** What a playbook says that has only its `kind`. */
export const payRunDefaults = payRunSchema.parse({ kind: "pay-run" });

export type PayRunKeys = z.output<typeof payRunSchema>;
export type ApprovalRuleInput = z.output<typeof approvalRuleSchema>;
export type StageInput = z.output<typeof stage>;
