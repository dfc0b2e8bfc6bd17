import { z } from "zod";
import { BANK_ACCOUNT_CHECKS } from "../../../contracts/playbook.ts";
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
    .meta({ description, examples: [["owner"]] });

const remind = z
  .strictObject({
    every: read((input) => readDays(input, { unit: "days", min: 1, max: 90, example: "3 days" }))
      .prefault("3 days")
      .meta({
        description: "How often, for as long as the same thing is waited for.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        examples: ["3 days"],
      }),
    tell: roles("Whom to remind, by role. Default: the roles of `by`.").optional(),
  })
  .meta({
    description: "Reminders of what is waited for.",
    examples: [{ every: "3 days", tell: ["owner"] }],
  });

/** A kyb-onboarding playbook as its author writes it, with the defaults. */
export const kybOnboardingSchema = z
  .strictObject({
    kind: z
      .literal("kyb-onboarding")
      .meta({ description: "What the playbook does: take a business through KYB." }),
    business,
    by: roles("Roles whose tokens may provide data, besides operator and admin.").prefault([
      "owner",
      "controller",
    ]),
    remind: remind.prefault({}),
    expire: read((input) => readDays(input, { unit: "days", min: 1, max: 365, example: "30 days" }))
      .prefault("30 days")
      .meta({
        description:
          "How long one and the same thing is waited for. Then the onboarding ends and forgets everything personal; launching it again goes on from what the service has.",
        type: "string",
        pattern: "^[0-9]+ days?$",
        examples: ["30 days"],
      }),
    bankAccount: z.enum(BANK_ACCOUNT_CHECKS).default("none").meta({
      description:
        "Once the business is verified: also get a bank account verified, by the amounts of two micro-deposits.",
    }),
    propose: read((input) =>
      input === "none"
        ? { ok: true, value: "none" }
        : readWord(input, "a playbook", "weekly-vendors"),
    )
      .prefault("weekly-vendors")
      .meta({
        description:
          "Name of a first pay-run playbook to propose once the business is verified, if it has none; a person stores it. `none` proposes nothing.",
        type: "string",
        examples: ["weekly-vendors", "none"],
      }),
  })
  .meta({
    title: "KYB onboarding",
    description: "Takes a business through verification, each step with its people's data.",
  });

export type KybOnboardingPlaybookInput = z.output<typeof kybOnboardingSchema>;
