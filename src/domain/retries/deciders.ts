import type { FailureRule } from "../../contracts/playbook.ts";
import { OPERATE } from "../approvals/token.ts";

/**
 * Returns the roles that may decide about a parked bill; one of them is enough. These are operator,
 * admin and the roles that its playbook's rule names. If the rule holds the vendor, they are only
 * the roles that it names, and admin.
 */
export function decidersUnder(rule: FailureRule | undefined): string[] {
  if (rule === undefined) return [...OPERATE];
  const roles = rule.action === "hold-vendor" ? [...rule.by, "admin"] : [...OPERATE, ...rule.by];
  return [...new Set(roles)];
}

/**
 * Returns the roles that may do something about a parked bill; one of them is enough. Operators and
 * admins may give it up or call it paid elsewhere, regardless of who decides about its retry.
 */
export function resolversUnder(rule: FailureRule | undefined): string[] {
  return [...new Set([...OPERATE, ...decidersUnder(rule)])];
}

/** Returns the command with which a person decides about a funding account that bounced. */
export function incidentCommand(sourceId: string): string {
  return `payrun incident ${sourceId} --released, --other-source or --top-up`;
}
