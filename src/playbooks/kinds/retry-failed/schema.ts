import { z } from "zod";
import { RETRY_WHEN } from "../../../contracts/playbook.ts";
import { REINITIATIONS_MAX } from "../../../domain/payments/return-codes.ts";
import { GIVE_UP } from "../../../domain/retries/policy.ts";
import { business, read } from "../../blocks.ts";
import { events } from "../../events.ts";
import { WORD_PATTERN } from "../../texts.ts";
import { readAtMost, readGiveUpAfter, readMatch, readPersonText } from "./texts.ts";

const people = (description: string, example: string) =>
  z
    .array(
      read(readPersonText).meta({
        type: "string",
        pattern: `^${WORD_PATTERN.slice(1, -1)}$`,
        examples: ["controller", "operator"],
      }),
    )
    .min(1, { error: "this names no role" })
    .max(20, { error: "this names more than 20 roles" })
    .meta({ description, examples: [[example]] });

/** One entry of `rules`; exported separately because rules are compared with each other. */
export const failureRuleSchema = z
  .strictObject({
    match: read(readMatch).meta({
      description:
        "Which failures: ACH return codes and words of the service's reason, or `anything-else`.",
      anyOf: [
        { type: "string", enum: ["anything-else"] },
        { type: "array", items: { type: "string" }, minItems: 1 },
      ],
      examples: [["R01", "R09", "insufficient funds"], "anything-else"],
    }),
    retry: z.enum(RETRY_WHEN).optional().meta({
      description:
        "Pays again, within Nacha's limits: once a person releases the funding account, once it holds the money, on the next business day, or on a day of the week.",
    }),
    pause: z.literal("funding-account").optional().meta({
      description:
        "Keeps every run from paying from the same account until one person has decided, however many payments bounced.",
    }),
    onIncident: z.enum(["name", "cancel-scheduled"]).default("name").meta({
      description:
        "What happens to payments that the service has scheduled from a funding account whose payments came back, once it is known that it is ours: people are given the command that cancels them, or Payrun cancels them. Their bills wait until the account is released.",
    }),
    atMost: read(readAtMost).prefault(REINITIATIONS_MAX).meta({
      description: "How often to pay again. Nacha allows two.",
      type: "integer",
      minimum: 1,
      maximum: 2,
    }),
    hold: z.literal("vendor").optional().meta({
      description: "Keeps everything of the same vendor from being paid.",
    }),
    payAgain: z.literal("when-bank-account-changed").optional().meta({
      description:
        "Once the vendor has another bank account, a person looks at it; the next run then asks for a new approval. With `hold: vendor`.",
    }),
    ask: people("Pays nothing again; these roles are asked.", "operator").optional(),
    by: people("Roles that decide, besides an administrator.", "controller").prefault([
      "controller",
    ]),
  })
  .meta({ examples: [{ match: "anything-else", ask: ["operator"] }] });

const giveUp = z
  .strictObject({
    after: read(readGiveUpAfter)
      .prefault(`${GIVE_UP.afterDays} days`)
      .meta({
        description: "How long after the failure. Nacha ends reinitiations after 180 days.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        examples: ["30 days"],
      }),
    tell: people("Whom to notify, by role.", "controller").prefault([...GIVE_UP.tell]),
  })
  .meta({
    description: "When a failed bill is given up: it is then kept from being paid until released.",
    examples: [{ after: "30 days", tell: ["controller"] }],
  });

/** A retry-failed playbook as its author writes it, with the defaults. */
export const retryFailedSchema = z
  .strictObject({
    kind: z
      .literal("retry-failed")
      .meta({ description: "What the playbook does: look after failed payments." }),
    business,
    rules: z
      .array(failureRuleSchema)
      .min(1, { error: "`rules` has no rule" })
      .max(50, { error: "`rules` has more than 50 rules" })
      .optional()
      .meta({
        description:
          "What to do, failure by failure: the first rule that matches counts. What no rule matches is never paid again by itself: an operator is asked. Default: built-in rules. After a bounce the funding account is paused, and the bill is paid again once a person releases it; a bank account that can't be paid holds its vendor; an operator is asked about everything else.",
        examples: [[{ match: ["R01", "R09"], retry: "next-business-day", atMost: 2 }]],
      }),
    giveUp: giveUp.prefault({}),
    events: events(
      "retry-failed",
      "Looks after payments that were made elsewhere as well: after failures of them, returns of them, or both. People are notified of them; they are never paid again by themselves.",
    ),
  })
  .meta({
    title: "Failed payments",
    description: "What happens to payments that fail or come back.",
  });

export type RetryFailedInput = z.output<typeof retryFailedSchema>;
export type FailureRuleInput = z.output<typeof failureRuleSchema>;
