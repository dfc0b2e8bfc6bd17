import { z } from "zod";
import { moneyMeta, read, span, spanMeta } from "../../blocks.ts";
import { fine, type TextReading, readMoney } from "../../texts.ts";
import { approvers } from "./approvers.ts";

export const escalate = z
  .strictObject({
    after: span({ most: 60, example: "2 business days" }).meta({
      ...spanMeta,
      description: "How long a stage waits first, counted from when its approvers were asked.",
      examples: ["2 business days", "1 day", "4 hours"],
    }),
    to: approvers("Roles that are notified, and may decide besides the stage's own."),
  })
  .meta({
    description:
      "Who else may decide if approvers take too long. The quorum stays, and nobody counts twice.",
    examples: [{ after: "2 business days", to: ["cfo"] }],
  });

export const remindRule = z
  .strictObject({
    after: span({ most: 60, example: "1 day" }).meta({
      ...spanMeta,
      description: "When to remind approvers first, counted from when they were asked.",
      examples: ["1 day", "4 hours", "1 business day"],
    }),
    every: span({ most: 60, example: "1 day" })
      .optional()
      .meta({
        ...spanMeta,
        description: "How long after a reminder the next one comes. Default: as long as the first.",
        examples: ["1 day", "1 business day"],
      }),
  })
  .meta({
    description: "Reminders of approvals that are waited for. Default: approvers are asked once.",
    examples: [{ after: "1 day", every: "1 day" }],
  });

export const changedRecord = z
  .strictObject({
    cancelOver: read((input): TextReading<number | null> =>
      input === "never" ? fine(null) : readMoney(input),
    ).meta({
      ...moneyMeta,
      pattern: `^never$|${moneyMeta.pattern}`,
      description: "Cancels scheduled payments above this amount; `never` cancels none.",
      examples: ["$10k", "never"],
    }),
  })
  .meta({
    description:
      "What happens if a vendor's record is changed while a payment is scheduled, and its account ends in the same digits. People are notified in any case. Default: nothing is cancelled.",
    examples: [{ cancelOver: "$10k" }],
  });
