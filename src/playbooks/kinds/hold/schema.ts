import { z } from "zod";
import { business, read } from "../../blocks.ts";
import { events } from "../../events.ts";
import { readRole } from "../../field-texts.ts";
import { WORD_PATTERN, fine, type TextReading, shown, wrong } from "../../texts.ts";
import { chosenBills } from "../chosen-bills.ts";

const UNTIL =
  /^((?:[01]\d|2[0-3]):[0-5]\d) (?:on the day|business day before|(\d{1,2}) business days before)$/;
const UNTIL_PATTERN =
  "^([01][0-9]|2[0-3]):[0-5][0-9] (business day before|[0-9]{1,2} business days before)$";

interface Until {
  /** `HH:MM` in New York. */
  readonly time: string;
  readonly businessDaysBefore: number;
}

/** Reads until when a held-back bill may be released, such as `17:00 business day before`. */
function readUntil(input: unknown): TextReading<Until> {
  const expected =
    'a time in New York and a day, such as "17:00 business day before" or "12:00 2 business days before"';
  if (typeof input !== "string") return wrong(`${shown(input)} is not a time`, expected);
  const match = UNTIL.exec(input);
  if (match === null) return wrong(`${shown(input)} does not say until when`, expected);
  const [, time = "", days] = match;
  const businessDaysBefore = input.endsWith("on the day") ? 0 : Number(days ?? 1);
  if (businessDaysBefore === 0) {
    return wrong(`${shown(input)} is too late: payments are sent by the day before`, expected);
  }
  return businessDaysBefore > 10
    ? wrong(`${shown(input)} is out of range`, "at most 10 business days before")
    : fine({ time, businessDaysBefore });
}

const choose = z
  .strictObject(chosenBills("Without it, those of every run, but `events` need one."))
  .meta({
    description: "Which bills. All that is given must hold.",
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
      .prefault(["controller", "owner"])
      .meta({
        description: "Roles; a person needs one of them to release a bill.",
        examples: [["controller", "owner"]],
      }),
    until: read(readUntil)
      .prefault("17:00 business day before")
      .meta({
        description:
          "Until when it may be released so that it is still paid on its date, in New York, counted back from the day it would be paid. What is not released by then stays unpaid, and on hold.",
        type: "string",
        pattern: UNTIL_PATTERN,
        examples: ["17:00 business day before"],
      }),
  })
  .meta({
    description: "Who may let a held-back bill go after all.",
    examples: [{ releasedBy: ["controller", "owner"], until: "17:00 business day before" }],
  });

/** A hold playbook as its author writes it, with the defaults. */
export const holdSchema = z
  .strictObject({
    kind: z.literal("hold").meta({
      description: "What the playbook does: hold bills back until a person releases them.",
    }),
    business,
    choose: choose.optional(),
    unless: unless.prefault({}),
    events: events(
      "hold",
      "Events that put it into force, each for the vendor or the bill that it is about; `choose` may narrow that further. Then it is in force only after such an event.",
    ),
  })
  .meta({ title: "Hold", description: "Holds bills back until a person releases them." });

export type HoldInput = z.output<typeof holdSchema>;
