import type { FailureRule } from "../../contracts/playbook.ts";
import { OPERATE } from "../approvals/token.ts";

/**
 * Roles of which any decides about a parked bill: whoever operates, and those that its playbook
 * names; these alone where it held the vendor.
 */
export function decidersUnder(rule: FailureRule | undefined): string[] {
  if (rule === undefined) return [...OPERATE];
  const roles = rule.action === "hold-vendor" ? [...rule.by, "admin"] : [...OPERATE, ...rule.by];
  return [...new Set(roles)];
}

/**
 * Roles of which any may do something about a parked bill: whoever operates may give it up, or call
 * it paid elsewhere, whoever decides of a retry.
 */
export function resolversUnder(rule: FailureRule | undefined): string[] {
  return [...new Set([...OPERATE, ...decidersUnder(rule)])];
}

/** What a person types to decide about a funding account that bounced. */
export function incidentCommand(sourceId: string): string {
  return `payrun incident ${sourceId} --released, --other-source or --top-up`;
}
