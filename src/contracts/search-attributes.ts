import { defineSearchAttributeKey, type SearchAttributePair } from "@temporalio/common";

/**
 * Search attributes, registered at startup. They are not encrypted, so they hold nothing personal.
 */
export const SEARCH_ATTRIBUTES = {
  PayrunBusiness: "KEYWORD",
  PayrunPlaybook: "KEYWORD",
  PayrunPeriod: "KEYWORD",
  PayrunPhase: "KEYWORD",
  PayrunNeedsAction: "BOOL",
  PayrunExceptions: "INT",
  PayrunTotalCents: "INT",
  PayrunPayDate: "DATETIME",
} as const;

const businessKey = defineSearchAttributeKey("PayrunBusiness", "KEYWORD");
const playbookKey = defineSearchAttributeKey("PayrunPlaybook", "KEYWORD");
const periodKey = defineSearchAttributeKey("PayrunPeriod", "KEYWORD");
const phaseKey = defineSearchAttributeKey("PayrunPhase", "KEYWORD");
const needsActionKey = defineSearchAttributeKey("PayrunNeedsAction", "BOOL");
const exceptionsKey = defineSearchAttributeKey("PayrunExceptions", "INT");
const totalCentsKey = defineSearchAttributeKey("PayrunTotalCents", "INT");
const payDateKey = defineSearchAttributeKey("PayrunPayDate", "DATETIME");

/** What a workflow shows in Temporal's list; a missing field leaves its attribute unchanged. */
export interface ShownInList {
  readonly business?: string;
  readonly playbook?: string;
  /** `YYYY-MM-DD`: a keyword, so that it is the same day in every zone. */
  readonly period?: string;
  readonly phase?: string;
  readonly needsAction?: boolean;
  readonly exceptions?: number;
  readonly totalCents?: number;
  /** `YYYY-MM-DD`; null while there is none. */
  readonly payDate?: string | null;
}

export function searchAttributes(shown: ShownInList): SearchAttributePair[] {
  const payAt = shown.payDate == null ? undefined : new Date(`${shown.payDate}T14:00:00Z`);
  const pairs: { readonly key: SearchAttributePair["key"]; readonly value: unknown }[] = [
    { key: businessKey, value: shown.business },
    { key: playbookKey, value: shown.playbook },
    { key: periodKey, value: shown.period },
    { key: phaseKey, value: shown.phase },
    { key: needsActionKey, value: shown.needsAction },
    { key: exceptionsKey, value: shown.exceptions },
    { key: totalCentsKey, value: shown.totalCents },
    { key: payDateKey, value: payAt },
  ];
  return pairs.filter((pair): pair is SearchAttributePair => pair.value !== undefined);
}
