import { z } from "zod";
import type { ConditionUse } from "./condition-fields.ts";
import { checkCondition } from "./conditions.ts";
import { readEvery, readProfile, WEEKDAYS } from "./field-texts.ts";
import {
  fine,
  MONEY_PATTERN,
  readMoney,
  readTime,
  readZone,
  shown,
  TIME_PATTERN,
  wrong,
} from "./texts.ts";
import type { Reading } from "./texts.ts";

/** A value that a reader of ours understands; its fault travels in the issue's `params`. */
export function read<T>(reader: (input: unknown) => Reading<T>) {
  return z.unknown().transform((input, context): T => {
    const reading = reader(input);
    if (reading.ok) return reading.value;
    context.issues.push({ code: "custom", input, params: { fault: reading.fault } });
    return z.NEVER;
  });
}

/** An amount such as `$50k`, in cents. */
export const money = read(readMoney);
export const moneyMeta = { type: "string", pattern: MONEY_PATTERN } as const;

/** A CEL condition that was checked for its use. */
export function condition(use: ConditionUse) {
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

/** When a playbook runs by itself. */
export const schedule = z
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

/** Whom to tell, and how often. */
export const notify = z
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

/** The profile that a playbook acts for. */
export const business = read(readProfile)
  .optional()
  .meta({
    description:
      "The business that pays, by its name in the profiles file. Unless said: the only one.",
    type: "string",
    examples: ["acme"],
  });
