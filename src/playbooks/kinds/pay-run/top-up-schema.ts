import { z } from "zod";
import { SAME_DAY_DAYS, STANDARD_DAYS } from "../../../domain/deposits/terms.ts";
import { moneyAmount, moneyMeta, read } from "../../blocks.ts";
import { readBankAccount } from "../../field-texts.ts";
import { readDays } from "../../texts.ts";
import { approvers, quorum } from "./approvers.ts";

/** How long money takes to arrive. */
export const arrivesAfter = read((input) =>
  readDays(input, { unit: "business days", min: 1, max: 10, example: "3 business days" }),
);
export const arrivesAfterMeta = {
  type: "string",
  pattern: "^[0-9]+ business days?$",
  examples: ["3 business days", "1 business day"],
} as const;

/** Whether a deposit may fill up a short balance. */
export const topUp = z
  .strictObject({
    from: read(readBankAccount)
      .prefault("default")
      .meta({
        description: "The bank account that the money is taken from: `default`, or its id.",
        type: "string",
        examples: ["default"],
      }),
    by: approvers("Roles; an approver of a deposit needs one of them."),
    quorum,
    atMost: moneyAmount.meta({
      ...moneyMeta,
      description: "The most that one deposit may be. If more is missing, none is proposed.",
      examples: ["$50k"],
    }),
    arrivesAfter: arrivesAfter.optional().meta({
      ...arrivesAfterMeta,
      description: `How long a deposit is on its way. Default: ${STANDARD_DAYS} business days, ${SAME_DAY_DAYS} if the balance takes same-day ACH.`,
    }),
  })
  .meta({
    description:
      "If the balance is short: proposes a deposit into it, which these people approve separately. Default: nothing is ever deposited.",
    examples: [{ by: ["owner"], atMost: "$50k" }],
  });
