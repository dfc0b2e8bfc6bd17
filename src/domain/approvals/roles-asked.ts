import type { Playbook } from "../../contracts/playbook.ts";
import { suggest } from "../suggest.ts";
import { OWN_ROLES } from "./token.ts";

/** An approval of a playbook that no person could give, or one of its roles that looks mistyped. */
interface Unheld {
  /** Roles of which an approver would need one. */
  readonly by: readonly string[];
  /** Roles that a person has and that were probably meant. */
  readonly meant: readonly string[];
}

/**
 * Finds the approvals of a playbook for which no person has a role. If a person has another role of
 * an approval, finds those of its roles that look mistyped.
 */
export function unheldRoles(playbook: Playbook, held: ReadonlySet<string>): readonly Unheld[] {
  const known = [...held].filter((role) => !OWN_ROLES.includes(role));
  return askedIn(playbook).flatMap((by) => {
    const meantBy = (role: string): string[] => {
      const near = suggest(role, known);
      return near === undefined ? [] : [near];
    };
    const unheld = by.filter((role) => !held.has(role));
    if (unheld.length === by.length) return [{ by, meant: by.flatMap(meantBy) }];
    return unheld
      .map((role) => ({ by: [role], meant: meantBy(role).filter((each) => !by.includes(each)) }))
      .filter(({ meant }) => meant.length > 0);
  });
}

/** Returns the roles from which each approval of a playbook may come; equal lists appear once. */
function askedIn(playbook: Playbook): (readonly string[])[] {
  if (playbook.kind !== "pay-run") return [];
  const stages = playbook.approve.flatMap((rule) =>
    (rule.stages ?? [rule]).map(({ by, ...stage }) => [
      ...by,
      ...("escalate" in stage ? (stage.escalate?.to ?? []) : []),
    ]),
  );
  return [...new Map(stages.map((by) => [by.join(), by])).values()];
}
