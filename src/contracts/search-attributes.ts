import { defineSearchAttributeKey, type SearchAttributePair } from "@temporalio/common";
import type { Assessment } from "./activities.ts";
import type { CancellationAssessment } from "./cancellation.ts";
import type { OnboardingAssessment } from "./onboarding.ts";

/** Search attributes registered at start-up; never anything personal: they are not encrypted. */
export const SEARCH_ATTRIBUTES = {
  PayrunBusiness: "KEYWORD",
  PayrunPlaybook: "KEYWORD",
  PayrunPhase: "KEYWORD",
  PayrunNeedsAction: "BOOL",
  PayrunExceptions: "INT",
  PayrunTotalCents: "INT",
  PayrunPayDate: "DATETIME",
} as const;

const businessKey = defineSearchAttributeKey("PayrunBusiness", "KEYWORD");
const playbookKey = defineSearchAttributeKey("PayrunPlaybook", "KEYWORD");
const phaseKey = defineSearchAttributeKey("PayrunPhase", "KEYWORD");
const needsActionKey = defineSearchAttributeKey("PayrunNeedsAction", "BOOL");
const exceptionsKey = defineSearchAttributeKey("PayrunExceptions", "INT");
const totalCentsKey = defineSearchAttributeKey("PayrunTotalCents", "INT");
const payDateKey = defineSearchAttributeKey("PayrunPayDate", "DATETIME");

/** Temporal's own: when a schedule was to fire. */
export const scheduledStartKey = defineSearchAttributeKey("TemporalScheduledStartTime", "DATETIME");

/** What a schedule's launcher shows. */
export function searchAttributesOfLauncher(of: {
  readonly business: string;
  readonly playbook: string;
}): SearchAttributePair[] {
  return [
    { key: businessKey, value: of.business },
    { key: playbookKey, value: of.playbook },
  ];
}

/** What a pay run shows from its launch on, before its workflow has said anything. */
export function searchAttributesAtLaunch(run: {
  readonly business: string;
  readonly playbook: string;
}): SearchAttributePair[] {
  return [
    { key: businessKey, value: run.business },
    { key: playbookKey, value: run.playbook },
    { key: phaseKey, value: "planning" },
    { key: needsActionKey, value: false },
  ];
}

/** What an onboarding shows of itself in Temporal's list. */
export function searchAttributesOfOnboarding(
  now: Pick<OnboardingAssessment, "phase" | "needsAction">,
): SearchAttributePair[] {
  return [
    { key: phaseKey, value: now.phase },
    { key: needsActionKey, value: now.needsAction },
  ];
}

/** What the owner of a failed bill, or an incident, shows of itself in Temporal's list. */
export function searchAttributesOfWaiting(now: {
  readonly business: string;
  readonly phase: string;
  readonly needsAction: boolean;
}): SearchAttributePair[] {
  return [
    { key: businessKey, value: now.business },
    { key: phaseKey, value: now.phase },
    { key: needsActionKey, value: now.needsAction },
  ];
}

/** What a cancellation shows of itself in Temporal's list. */
export function searchAttributesOfCancellation(now: CancellationAssessment): SearchAttributePair[] {
  return [
    { key: phaseKey, value: now.phase },
    { key: needsActionKey, value: now.needsAction },
    { key: exceptionsKey, value: now.exceptions },
    { key: totalCentsKey, value: now.totalCents },
  ];
}

/** What a pay run shows of itself in Temporal's list. */
export function searchAttributesOf(now: Assessment): SearchAttributePair[] {
  return [
    { key: phaseKey, value: now.phase },
    { key: needsActionKey, value: now.needsAction },
    { key: exceptionsKey, value: now.exceptions },
    { key: totalCentsKey, value: now.totalCents },
    ...(now.payDate === null
      ? []
      : [{ key: payDateKey, value: new Date(`${now.payDate}T14:00:00Z`) }]),
  ];
}
