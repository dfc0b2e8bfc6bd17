import { KYB_STEPS, type OnboardingPhase } from "../../src/contracts/onboarding.ts";
import type { VerificationView } from "../../src/domain/onboarding/decide.ts";
import type { Standing } from "./standing.ts";

/** What has come of an onboarding so far: the steps that the service has. */
export function soFarOf(steps: VerificationView["steps"]): string {
  const there = KYB_STEPS.filter((step) => steps[step] !== "missing");
  return there.length === 0 ? "the service has no step yet" : `the service has ${there.join(", ")}`;
}

/** Where an onboarding stands, in Markdown for the Temporal UI; nothing personal. */
export function detailsOf(
  { onboarding, inputs }: Pick<Standing, "onboarding" | "inputs">,
  now: {
    readonly phase: OnboardingPhase;
    readonly waitingFor: string;
    readonly steps: VerificationView["steps"];
  },
): string {
  const steps = KYB_STEPS.map((step) => {
    const waiting = inputs.filter((each) => each.step === step && each.state === "waiting").length;
    return `| ${step} | ${now.steps[step]} | ${waiting === 0 ? "" : waiting} |`;
  });
  return [
    `KYB of **${onboarding.business}**: **${now.phase}**`,
    "",
    `Waits for: ${now.waitingFor.replaceAll(/\s+/g, " ")}`,
    "",
    "| Step | At the service | Provided, not sent yet |",
    "|---|---|---|",
    ...steps,
  ].join("\n");
}
