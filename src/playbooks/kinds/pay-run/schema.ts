import { z } from "zod";
import { REVIEW_REASONS } from "../../../contracts/playbook.ts";
import {
  accounting,
  business,
  condition,
  money,
  moneyMeta,
  notify,
  read,
  remittance,
  schedule,
} from "../../blocks.ts";
import {
  readDue,
  readFailurePlaybook,
  readFundingSource,
  readQuorum,
  readRole,
} from "../../field-texts.ts";
import { readDays, WORD_PATTERN } from "../../texts.ts";

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

/** A pay-run playbook as its author writes it, before defaults. */
export const payRunSchema = z
  .strictObject({
    kind: z.literal("pay-run").meta({ description: "What the playbook does: pay bills." }),
    business,
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
        description:
          "The retry-failed playbook that looks after failed payments. `retry-failed` is built in, until one of that name is stored.",
        type: "string",
        default: "retry-failed",
        examples: ["retry-failed"],
      }),
    notify: notify.optional(),
    remittance: remittance.optional(),
    accounting: accounting.optional(),
  })
  .meta({
    title: "Pay run",
    description: "Which bills to pay, when, with whose approval.",
  });

export type PayRunInput = z.output<typeof payRunSchema>;
export type ApprovalRuleInput = z.output<typeof approvalRuleSchema>;
