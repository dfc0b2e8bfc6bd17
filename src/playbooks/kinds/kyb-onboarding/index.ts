import type { KybOnboardingPlaybook } from "../../../contracts/playbook.ts";
import { playbookKind } from "../kind.ts";
import { type KybOnboardingPlaybookInput, kybOnboardingSchema } from "./schema.ts";

const PEOPLE = ["owner", "controller"];

/** Takes a business through KYB: whose data, whom to remind, how long to wait. */
export const kybOnboardingKind = playbookKind({
  schema: kybOnboardingSchema,
  checkTogether: () => [],
  compile,
});

function compile(name: string, input: KybOnboardingPlaybookInput): KybOnboardingPlaybook {
  const by = input.by ?? PEOPLE;
  return {
    kind: "kyb-onboarding",
    name,
    business: input.business ?? null,
    schedule: null,
    by,
    remindEveryDays: input.remind?.every ?? 3,
    remind: input.remind?.tell ?? by,
    expireAfterDays: input.expire ?? 30,
    bankAccount: input.bankAccount ?? "none",
    propose: input.propose === "none" ? null : (input.propose ?? "weekly-vendors"),
  };
}
