import { z } from "zod";
import { REFUND_BUSINESS_DAYS } from "../../../domain/cancellations/policy.ts";
import { business, read } from "../../blocks.ts";
import { events } from "../../events.ts";
import { readDays } from "../../texts.ts";
import { chosenBills, readId } from "../chosen-bills.ts";

const choose = z
  .strictObject({
    ...chosenBills("Without it, those of every run."),
    payments: z
      .array(read(readId).meta({ type: "string", examples: ["pay_123"] }))
      .min(1, { error: "this names no payment" })
      .max(1_000, { error: "this names more than 1,000 payments" })
      .optional()
      .meta({ description: "Payments, by id.", examples: [["pay_123"]] }),
  })
  .meta({
    description: "Which bills or payments. All that is given must hold.",
    examples: [{ run: "weekly-vendors", where: "review" }],
  });

const then = z
  .strictObject({
    refundIn: read((input) =>
      readDays(input, { unit: "business days", min: 1, max: 30, example: "3 business days" }),
    )
      .prefault(`${REFUND_BUSINESS_DAYS} business days`)
      .meta({
        description: "After how long people are notified of a refund that is still on its way.",
        type: "string",
        pattern: "^[0-9]+ business days?$",
        examples: ["3 business days"],
      }),
  })
  .meta({ description: "What follows.", examples: [{ refundIn: "3 business days" }] });

/**
 * The key as its author writes it. Our own objects never have a method of that name, only a
 * mapping.
 */
const FOLLOWS = named("then");

/** A cancel-scheduled playbook as its author writes it, with the defaults. */
export const cancelScheduledSchema = z
  .strictObject({
    kind: z.literal("cancel-scheduled").meta({
      description: "What the playbook does: cancel payments that the service has scheduled.",
    }),
    business,
    choose: choose.optional(),
    [FOLLOWS]: then.prefault({}),
    events: events(
      "cancel-scheduled",
      "Events that put it into force, each for the vendor or the bill that it is about; `choose` may narrow that further. Then it is in force only after such an event.",
    ),
  })
  .meta({
    title: "Cancel scheduled",
    description: "Cancels payments that the service has scheduled.",
  });

function named<Name extends string>(name: Name): Name {
  return name;
}

export type CancelScheduledKeys = z.output<typeof cancelScheduledSchema>;
