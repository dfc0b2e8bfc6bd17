import { z } from "zod";
import { business, read } from "../../blocks.ts";
import { readRole } from "../../field-texts.ts";
import { readDays, readWord, WORD_PATTERN } from "../../texts.ts";

const roles = (description: string) =>
  z
    .array(
      read(readRole).meta({
        type: "string",
        pattern: `^${WORD_PATTERN.slice(1, -1)}$`,
        examples: ["owner", "controller"],
      }),
    )
    .min(1, { error: "this names no role" })
    .max(20, { error: "this names more than 20 roles" })
    .optional()
    .meta({ description, default: ["owner", "controller"], examples: [["owner"]] });

const remind = z
  .strictObject({
    every: read((input) => readDays(input, { unit: "days", min: 1, max: 90, example: "3 days" }))
      .optional()
      .meta({
        description: "How often, for as long as the same thing is waited for.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        default: "3 days",
        examples: ["3 days"],
      }),
    tell: roles("Whom to remind, by role."),
  })
  .meta({
    description: "Reminders of what is waited for.",
    examples: [{ every: "3 days", tell: ["owner"] }],
  });

/** A kyb-onboarding playbook as its author writes it, before defaults. */
export const kybOnboardingSchema = z
  .strictObject({
    kind: z
      .literal("kyb-onboarding")
      .meta({ description: "What the playbook does: take a business through KYB." }),
    business,
    by: roles(
      "Roles whose tokens may provide data, besides operator and admin. Default: owner and controller.",
    ),
    remind: remind.optional(),
    expire: read((input) => readDays(input, { unit: "days", min: 1, max: 365, example: "30 days" }))
      .optional()
      .meta({
        description:
          "How long one and the same thing is waited for. Then the onboarding ends and forgets everything personal; launching it again goes on from what the service has.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        default: "30 days",
        examples: ["30 days"],
      }),
    bankAccount: z.enum(["none", "micro-deposits"]).optional().meta({
      description:
        "Once the business is verified: also get a bank account verified, by the amounts of two micro-deposits.",
      default: "none",
    }),
    propose: read((input) =>
      input === "none"
        ? { ok: true, value: "none" }
        : readWord(input, "a playbook", "weekly-vendors"),
    )
      .optional()
      .meta({
        description:
          "Name of a first pay-run playbook to propose once the business is verified, if it has none; a person stores it. `none` proposes nothing.",
        type: "string",
        default: "weekly-vendors",
        examples: ["weekly-vendors", "none"],
      }),
  })
  .meta({
    title: "KYB onboarding",
    description: "Takes a business through verification, each step with its people's data.",
  });

export type KybOnboardingPlaybookInput = z.output<typeof kybOnboardingSchema>;
