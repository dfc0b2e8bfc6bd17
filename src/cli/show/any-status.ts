import type { AnyStatus } from "../../api/statuses.ts";
import { cancellationLines, isCancellation } from "./cancellations.ts";
import { incidentLines } from "./incident.ts";
import { onboardingLines } from "./onboarding.ts";
import { runLines } from "./run.ts";

/** Describes for a person where a workflow of any kind stands. */
export function statusLines(status: AnyStatus): string[] {
  if (status.kind === "kyb-onboarding") return onboardingLines(status);
  if (isCancellation(status)) return cancellationLines(status);
  if (status.kind === "funding-incident") return incidentLines(status);
  return runLines(status);
}
