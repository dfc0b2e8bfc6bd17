import { z } from "zod";
import { REVIEW_REASONS } from "../contracts/playbook.ts";
import type { ConditionUse } from "./condition-fields.ts";
import { checkCondition } from "./conditions.ts";
import {
  readDue,
  readEvery,
  readFailurePlaybook,
  readFundingSource,
  readProfile,
  readQuorum,
  readRole,
  WEEKDAYS,
} from "./field-texts.ts";
import {
  fine,
  MONEY_PATTERN,
  readDays,
  readMoney,
  readTime,
  readZone,
  shown,
  TIME_PATTERN,
  WORD_PATTERN,
  wrong,
} from "./texts.ts";
import type { Reading } from "./texts.ts";

/** A value that a reader of ours understands; its fault travels in the issue's `params`. */
function read<T>(reader: (input: unknown) => Reading<T>) {
  return z.unknown().transform((input, context): T => {
    const reading = reader(input);
    if (reading.ok) return reading.value;
    context.issues.push({ code: "custom", input, params: { fault: reading.fault } });
    return z.NEVER;
  });
}

const money = read(readMoney);
const moneyMeta = { type: "string", pattern: MONEY_PATTERN } as const;

function condition(use: ConditionUse) {
  return read((input): Reading<string> => {
    if (typeof input !== "string") {
      return wrong(
        `${shown(input)} is not a condition`,
        'such as payable.description.contains("rent")',
      );
    }
    const fault = checkCondition(input, use);
    return fault === null ? fine(input) : { ok: false, fault };
  });
}

const schedule = z
  .strictObject({
    every: read(readEvery).meta({
      description:
        "The day to run on; `weekday` is Monday to Friday. On a bank holiday the run moves to the business day before.",
      type: "string",
      enum: [...WEEKDAYS],
    }),
    at: read(readTime)
      .optional()
      .meta({
        description: "The time of day to run at, 24 hours.",
        type: "string",
        pattern: TIME_PATTERN,
        default: "10:00",
        examples: ["10:00"],
      }),
    zone: read(readZone)
      .optional()
      .meta({
        description: "The IANA time zone of `at`.",
        type: "string",
        default: "America/New_York",
        examples: ["America/New_York", "America/Chicago", "America/Los_Angeles", "UTC"],
      }),
  })
  .meta({
    description: "When to run by itself. Without it, the playbook runs when somebody launches it.",
    examples: [{ every: "thursday", at: "10:00", zone: "America/New_York" }],
  });

const select = z
  .strictObject({
    due: read(readDue)
      .optional()
      .meta({
        description:
          "Which approved bills to pay: due before the next run, due within so many days, or all. Overdue bills are always in; bills already on their way, on hold or not payable are always out.",
        type: "string",
        pattern: "^(before-next-run|all|within [0-9]+ days?)$",
        default: "before-next-run",
        examples: ["before-next-run", "within 7 days", "all"],
      }),
  })
  .meta({ description: "Which bills to pay.", examples: [{ due: "within 7 days" }] });

const pay = z
  .strictObject({
    arrive: z.literal("by-due-date").optional().meta({
      description:
        "Pays each bill so that the money arrives by its due date. Not together with `on`.",
    }),
    on: z.literal("next-business-day").optional().meta({
      description: "Pays every bill on the next business day. Not together with `arrive`.",
    }),
    from: read(readFundingSource)
      .optional()
      .meta({
        description: "The funding source: `default`, `balance`, or a source's id.",
        type: "string",
        default: "default",
        examples: ["default", "balance"],
      }),
    whenShort: z.enum(["most-urgent-first", "wait", "stop"]).optional().meta({
      description:
        "Where the money does not cover every bill: pay the most urgent first, wait until it covers all, or stop.",
      default: "most-urgent-first",
    }),
    clearing: z.enum(["standard", "next-available"]).optional().meta({
      description:
        "How fast the ACH network clears. `next-available` needs accelerated clearing on the account.",
      default: "standard",
    }),
    arrivesAfter: read((input) =>
      readDays(input, { unit: "business days", min: 1, max: 10, example: "3 business days" }),
    )
      .optional()
      .meta({
        description:
          "How long the money is on its way. Unless said: 3 business days, 1 with `clearing: next-available`.",
        type: "string",
        pattern: "^[0-9]+ business days?$",
        examples: ["3 business days", "1 business day"],
      }),
  })
  .meta({
    description: "When to pay, and from where.",
    examples: [{ arrive: "by-due-date", from: "default" }],
  });

const limits = z
  .strictObject({
    bill: money.optional().meta({
      ...moneyMeta,
      description: "The most to pay on one bill.",
      examples: ["$50k"],
    }),
    vendorPerWeek: money.optional().meta({
      ...moneyMeta,
      description: "The most to pay one vendor in a week, all runs together.",
      examples: ["$75k"],
    }),
    businessPerWeek: money.optional().meta({
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

/** One entry of `approve`; exported alone because rules are compared with each other. */
export const approvalRuleSchema = z
  .strictObject({
    when: z.literal("review").optional().meta({
      description: "Matches only bills that were flagged for review.",
    }),
    over: money.optional().meta({
      ...moneyMeta,
      description: "Matches only amounts above this.",
      examples: ["$25k"],
    }),
    where: condition("approve")
      .optional()
      .meta({
        description:
          "Matches only bills that satisfy this CEL condition; it may ask for `payable.flags`.",
        type: "string",
        examples: ['payable.vendor.name.startsWith("Acme")'],
      }),
    by: z
      .array(
        read(readRole).meta({
          type: "string",
          pattern: `^${WORD_PATTERN.slice(1, -1)}$`,
          examples: ["controller", "owner"],
        }),
      )
      .min(1, { error: "nobody could approve: `by` names no role" })
      .max(20, { error: "`by` names more than 20 roles" })
      .meta({
        description:
          "Roles of which an approver holds one. They are the roles that tokens are made with.",
        examples: [["controller", "owner"]],
      }),
    quorum: read(readQuorum).optional().meta({
      description: "How many different people must approve.",
      type: "integer",
      minimum: 1,
      maximum: 10,
      default: 1,
    }),
  })
  .meta({ examples: [{ by: ["controller", "owner"] }] });

const notify = z
  .strictObject({
    people: z.enum(["by-role", "none"]).optional().meta({
      description: "Whom to tell that a decision or an action is wanted.",
      default: "by-role",
    }),
    digest: z.enum(["daily", "weekly", "none"]).optional().meta({
      description: "How often to send a summary.",
      default: "none",
    }),
  })
  .meta({
    description: "Whom to tell, and how often. Checked and kept; nothing is sent yet.",
    examples: [{ people: "by-role", digest: "daily" }],
  });

/** A pay-run playbook as its author writes it, before defaults. */
export const payRunSchema = z
  .strictObject({
    kind: z.literal("pay-run").meta({ description: "What the playbook does: pay bills." }),
    business: read(readProfile)
      .optional()
      .meta({
        description:
          "The business that pays, by its name in the profiles file. Unless said: the only one.",
        type: "string",
        examples: ["acme"],
      }),
    schedule: schedule.optional(),
    select: select.optional(),
    where: condition("select")
      .optional()
      .meta({
        description:
          "A CEL condition that a bill must satisfy as well. It sees `payable`; amounts are in cents.",
        type: "string",
        examples: ['payable.description.contains("rent")'],
      }),
    pay: pay.optional(),
    limits: limits.optional(),
    review: z
      .array(z.enum(REVIEW_REASONS))
      .optional()
      .meta({
        description: "Which oddities to flag for whoever approves. Unless said: all four.",
        default: [...REVIEW_REASONS],
        examples: [[...REVIEW_REASONS]],
      }),
    approve: z
      .array(approvalRuleSchema)
      .min(1, { error: "nobody could approve: `approve` has no rule" })
      .max(50, { error: "`approve` has more than 50 rules" })
      .optional()
      .meta({
        description:
          "Who must approve, bill by bill: the first rule that matches counts, and the last one must match every bill. Unless said: one approval of a controller or an owner.",
        default: [{ by: ["controller", "owner"] }],
        examples: [[{ over: "$25k", by: ["owner"] }, { by: ["controller", "owner"] }]],
      }),
    approvalValid: read((input) =>
      readDays(input, { unit: "days", min: 1, max: 365, example: "30 days" }),
    )
      .optional()
      .meta({
        description: "How long an approval holds, retries included.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        default: "30 days",
        examples: ["30 days"],
      }),
    late: z.enum(["ask", "next-business-day"]).optional().meta({
      description:
        "Where a decision comes too late for the planned dates: ask again with new dates, or pay on the next business day.",
      default: "ask",
    }),
    onFailure: read(readFailurePlaybook)
      .optional()
      .meta({
        description: "The playbook that looks after failed payments.",
        type: "string",
        enum: ["retry-failed"],
        default: "retry-failed",
      }),
    notify: notify.optional(),
  })
  .meta({
    title: "Payrun playbook",
    description: "Which bills to pay, when, with whose approval.",
  });

export type PlaybookInput = z.output<typeof payRunSchema>;
export type ApprovalRuleInput = z.output<typeof approvalRuleSchema>;
