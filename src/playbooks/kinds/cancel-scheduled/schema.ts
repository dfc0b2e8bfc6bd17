import { z } from "zod";
import { business, read } from "../../blocks.ts";
import { events } from "../../events.ts";
import { readRole } from "../../field-texts.ts";
import { readDays, readWord, WORD_PATTERN } from "../../texts.ts";
import { readId, readUntil, readWhere, UNTIL_PATTERN } from "./texts.ts";

const choose = z
  .strictObject({
    run: read((input) => readWord(input, "a playbook", "weekly-vendors"))
      .optional()
      .meta({
        description:
          "A pay-run playbook: only bills of its runs. Without it those of every run, but `events` that withhold need one.",
        type: "string",
        pattern: WORD_PATTERN,
        examples: ["weekly-vendors"],
      }),
    where: read(readWhere)
      .optional()
      .meta({
        description:
          "`review` for the bills that were flagged for review, else a CEL condition on the planned bill, which may ask for `payable.flags`.",
        type: "string",
        examples: ["review", "payable.amountCents > 1000000"],
      }),
    vendor: read(readId)
      .optional()
      .meta({ description: "A vendor, by contact id.", type: "string", examples: ["con_123"] }),
    payments: z
      .array(read(readId).meta({ type: "string", examples: ["pay_123"] }))
      .min(1, { error: "this names no payment" })
      .max(1_000, { error: "this names more than 1,000 payments" })
      .optional()
      .meta({ description: "Payments, by id. Only to cancel.", examples: [["pay_123"]] }),
  })
  .meta({
    description: "Which bills or payments. All that is said must hold.",
    examples: [{ run: "weekly-vendors", where: "review" }],
  });

const unless = z
  .strictObject({
    releasedBy: z
      .array(
        read(readRole).meta({
          type: "string",
          pattern: WORD_PATTERN,
          examples: ["controller", "owner"],
        }),
      )
      .min(1, { error: "nobody could release: `releasedBy` names no role" })
      .max(20, { error: "`releasedBy` names more than 20 roles" })
      .optional()
      .meta({
        description: "Roles of which whoever releases a bill holds one.",
        default: ["controller", "owner"],
        examples: [["controller", "owner"]],
      }),
    until: read(readUntil)
      .optional()
      .meta({
        description:
          "Until when it may be released so that it is still paid on its date, in New York, counted back from the day it would be paid. What nobody has released by then stays unpaid, and on hold.",
        type: "string",
        pattern: UNTIL_PATTERN,
        default: "17:00 business day before",
        examples: ["17:00 business day before"],
      }),
  })
  .meta({
    description: "Who may let a withheld bill go after all.",
    examples: [{ releasedBy: ["controller", "owner"], until: "17:00 business day before" }],
  });

const then = z
  .strictObject({
    hold: z.literal("until-released").optional().meta({
      description: "The bill is on hold before the first cancel, and only a person lifts that.",
      default: "until-released",
    }),
    refundIn: read((input) =>
      readDays(input, { unit: "business days", min: 1, max: 30, example: "3 business days" }),
    )
      .optional()
      .meta({
        description: "After how long a refund that is still on its way is told to people.",
        type: "string",
        pattern: "^[0-9]+ business days?$",
        default: "3 business days",
        examples: ["3 business days"],
      }),
    tooLate: z.literal("tell").optional().meta({
      description: "What happens where the bank has the payment already: people are told.",
      default: "tell",
    }),
  })
  .meta({
    description: "What follows.",
    examples: [{ hold: "until-released", refundIn: "3 business days", tooLate: "tell" }],
  });

/** As its author writes it. An object of ours never has a method of that name, only a mapping. */
const FOLLOWS = named("then");

/** A cancel-scheduled playbook as its author writes it, before defaults. */
export const cancelScheduledSchema = z
  .strictObject({
    kind: z.literal("cancel-scheduled").meta({
      description: "What the playbook does: withhold bills, or cancel scheduled payments.",
    }),
    business,
    choose: choose.optional(),
    unless: unless.optional(),
    how: z.enum(["not-submitted-until-released", "cancel-already-scheduled"]).optional().meta({
      description:
        "Keep bills from being sent until somebody releases them, or cancel what the service has scheduled.",
      default: "not-submitted-until-released",
    }),
    [FOLLOWS]: then.optional(),
    events: events(
      "cancel-scheduled",
      "Events that put it into force, each for the vendor or the bill that it speaks of; `choose` may narrow that further. Then it is in force only after such an event.",
    ),
  })
  .meta({
    title: "Cancel scheduled",
    description: "Withholds bills until they are released, or cancels scheduled payments.",
  });

function named<Name extends string>(name: Name): Name {
  return name;
}

export type CancelScheduledInput = z.output<typeof cancelScheduledSchema>;
