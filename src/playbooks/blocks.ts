import { z } from "zod";
import { DIGESTS, NOTIFY_PEOPLE, ON_HOLIDAYS } from "../contracts/playbook.ts";
import type { ConditionUse } from "./condition-fields.ts";
import { checkCondition } from "./conditions.ts";
import { EVERY, ON, readEvery, readOn, readProfile, readScheduleStart } from "./field-texts.ts";
import {
  fine,
  readDays,
  MONEY_PATTERN,
  readMoney,
  readSpan,
  readTime,
  readZone,
  shown,
  SPAN_PATTERN,
  TIME_PATTERN,
  wrong,
} from "./texts.ts";
import type { TextReading } from "./texts.ts";

/** Returns a schema for a value that our reader parses; its fault is in the issue's `params`. */
export function read<T>(reader: (input: unknown) => TextReading<T>) {
  return z.unknown().transform((input, context): T => {
    const reading = reader(input);
    if (reading.ok) return reading.value;
    for (const fault of [reading.fault, ...(reading.more ?? [])])
      context.issues.push({ code: "custom", input, params: { fault } });
    return z.NEVER;
  });
}

/** An amount such as `$50k`, in cents. */
export const moneyAmount = read(readMoney);
export const moneyMeta = { type: "string", pattern: MONEY_PATTERN } as const;

/** A time such as `1 day`, `4 hours` or `2 business days`. */
export const span = (rule: { readonly most: number; readonly example: string }) =>
  read((input) => readSpan(input, rule));
export const spanMeta = { type: "string", pattern: SPAN_PATTERN } as const;

/** Returns a schema for a CEL condition, checked for its use. */
export function condition(use: ConditionUse) {
  return read((input): TextReading<string> => {
    if (typeof input !== "string") {
      return wrong(
        `${shown(input)} is not a condition`,
        'such as payable.description.contains("rent")',
      );
    }
    return readCondition(input, use);
  });
}

/** Reads a CEL condition, checked as `checkCondition` does. */
export function readCondition(source: string, use: ConditionUse): TextReading<string> {
  const [fault, ...more] = checkCondition(source, use);
  return fault === undefined ? fine(source) : { ok: false, fault, more };
}

/** When a playbook runs by itself. */
export const schedule = z
  .strictObject({
    every: read(readEvery).meta({
      description:
        "How often to run: every calendar day, every banking day (`weekday`), a day of the week, `week` and `month` with `on`, `two-weeks` with `from`.",
      type: "string",
      enum: [...EVERY],
    }),
    on: read(readOn)
      .optional()
      .meta({
        description:
          "Which day: of the week with `every: week`; with `every: month` a day from 1 to 28, `last-day` or `last-business-day`.",
        anyOf: [
          { type: "string", enum: [...ON] },
          { type: "integer", minimum: 1, maximum: 28 },
        ],
        examples: ["thursday", 15, "last-business-day"],
      }),
    from: read(readScheduleStart)
      .optional()
      .meta({
        description: "A date that is a run itself; with `every: two-weeks`, which counts from it.",
        type: "string",
        pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        examples: ["2026-01-08"],
      }),
    at: read(readTime)
      .prefault("10:00")
      .meta({
        description: "The time of day to run at, 24 hours.",
        type: "string",
        pattern: TIME_PATTERN,
        examples: ["10:00"],
      }),
    zone: read(readZone)
      .prefault("America/New_York")
      .meta({
        description: "The IANA time zone of `at`.",
        type: "string",
        examples: ["America/New_York", "America/Chicago", "America/Los_Angeles", "UTC"],
      }),
    holidays: z.enum(ON_HOLIDAYS).default("business-day-before").meta({
      description:
        "Where a run moves if its day is a bank holiday or a weekend. Not with `every: day` or `weekday`.",
    }),
    catchUp: read((input) => readDays(input, { unit: "days", min: 0, max: 31, example: "1 day" }))
      .prefault("1 day")
      .meta({
        description:
          "How long after its time a run may still begin, if it was missed because nothing was running.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        examples: ["1 day", "0 days"],
      }),
    mode: z.enum(["pay", "plan-only"]).default("pay").meta({
      description:
        "`plan-only`: every run of this playbook plans, reports what it would have paid, and ends; nothing is asked or sent.",
    }),
  })
  .meta({
    description: "When to run by itself. Without it, the playbook runs when a person launches it.",
    examples: [{ every: "thursday", at: "10:00", zone: "America/New_York" }],
  });

/** Whom to notify, and how often. */
export const notify = z
  .strictObject({
    people: z.enum(NOTIFY_PEOPLE).default("by-role").meta({
      description: "Whom to notify that a decision or an action is needed.",
    }),
    digest: z.enum(DIGESTS).default("none").meta({
      description: "How often to send a summary.",
    }),
  })
  .meta({
    description: "Whom to notify, and how often, over the channels of the business's profile.",
    examples: [{ people: "by-role", digest: "daily" }],
  });

/** A name as it is written in a mail header: one line. */
const mailName = read((input): TextReading<string> => {
  const expected = "a name of at most 100 characters on one line, such as Acme, Inc.";
  const isName = typeof input === "string" && /^[^\p{Cc}]{1,100}$/u.test(input.trim());
  return isName ? fine(input.trim()) : wrong(`${shown(input)} is not a name`, expected);
});
const mailAddress = read((input): TextReading<string> => {
  const expected = "an e-mail address, such as payables@acme.example";
  const isAddress = z.email().max(254).safeParse(input).success;
  return isAddress && typeof input === "string"
    ? fine(input)
    : wrong(`${shown(input)} is not an e-mail address`, expected);
});

/** Whether vendors are told which bill a payment covers. */
export const remittance = z
  .strictObject({
    send: z.literal("when-settled").meta({
      description: "Writes to a vendor's e-mail addresses once a payment has settled.",
    }),
    as: mailName.optional().meta({
      description: "Who pays, by the name that vendors know. Default: the profile's name.",
      type: "string",
      examples: ["Acme, Inc."],
    }),
    replyTo: mailAddress.optional().meta({
      description: "The address that vendors' answers go to.",
      type: "string",
      format: "email",
      examples: ["payables@acme.example"],
    }),
  })
  .meta({
    description:
      "Remittance advice: tells vendors which bill each payment covers. Default: they are not written to.",
    examples: [{ send: "when-settled", as: "Acme, Inc." }],
  });

/** How recently the books must have been synced when a plan is made from them. */
export const accounting = z
  .strictObject({
    syncedWithin: read((input) =>
      readDays(input, { unit: "days", min: 1, max: 90, example: "1 day" }),
    ).meta({
      description: "A plan warns if the accounting integration's last sync is older than this.",
      type: "string",
      pattern: "^[0-9]+ days?$",
      examples: ["1 day", "7 days"],
    }),
  })
  .meta({
    description: "What to expect of the accounting integration. Default: nothing.",
    examples: [{ syncedWithin: "1 day" }],
  });

/** The profile that a playbook acts for. */
export const business = read(readProfile)
  .optional()
  .meta({
    description: "The business that pays, by its name in the profiles file. Default: the only one.",
    type: "string",
    examples: ["acme"],
  });
