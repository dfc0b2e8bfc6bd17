import type { KybOnboardingPlaybook } from "../../../contracts/playbook.ts";
import { playbookKind } from "../kind.ts";
import { type KybOnboardingPlaybookInput, kybOnboardingSchema } from "./schema.ts";

/** Takes a business through KYB: whose data, whom to remind, how long to wait. */
export const kybOnboardingKind = playbookKind({
  schema: kybOnboardingSchema,
  checkTogether: () => [],
  compile,
});

function compile(name: string, input: KybOnboardingPlaybookInput): KybOnboardingPlaybook {
  const { by, remind } = input;
  return {
    kind: "kyb-onboarding",
    name,
    business: input.business ?? null,
    schedule: null,
    by,
    remindEveryDays: remind.every,
    remind: remind.tell ?? by,
    expireAfterDays: input.expire,
    bankAccount: input.bankAccount,
    propose: input.propose === "none" ? null : input.propose,
  };
}
