import type { BusinessProfile } from "../../config/business-profile.ts";
import { rolesOfRule } from "../../domain/approvals/rules.ts";
import { hasRole, OPERATE } from "../../domain/approvals/token.ts";
import type { Hold } from "../../store/holds/holds.ts";
import { listPlaybooks } from "../../store/playbooks/playbooks.ts";
import type { ActionContext } from "../context.ts";
import type { Principal } from "../principal.ts";
import { holdsBy } from "./release.ts";

/** The part of a hold that decides who may lift it. */
type Named = Pick<Hold, "holdId" | "roles">;

/** Returns the roles that may approve under the stored playbooks of these businesses. */
export async function approverRoles(
  { store }: Pick<ActionContext, "store">,
  profiles: readonly BusinessProfile[],
): Promise<string[]> {
  const roles = new Set<string>();
  for (const { name } of profiles) {
    for (const { compiled } of await listPlaybooks(store.db, name)) {
      if (compiled.kind !== "pay-run") continue;
      for (const role of compiled.approve.flatMap(rolesOfRule)) roles.add(role);
      for (const role of compiled.pay.topUp?.by ?? []) roles.add(role);
    }
  }
  return [...roles];
}

/**
 * Returns a function that gives the roles that may lift a hold: the roles that the hold names; if
 * it names none, operators, and the approver who set it, also by a stop that cancels.
 */
export async function liftersOf(
  context: Pick<ActionContext, "store" | "clocks" | "nowMs">,
  profile: BusinessProfile,
  principal: Principal,
): Promise<(hold: Named) => readonly string[]> {
  // Falls back to the real clock if the business's can't be read: the release itself reads it.
  const { businessMs } = await context.clocks
    .read(profile)
    .catch(() => ({ businessMs: context.nowMs() }));
  const theirs = { author: principal.name, businessMs };
  const set = await holdsBy(context.store.db, profile, theirs);
  const own = new Set(set.map(({ holdId }) => holdId));
  // For a principal who has set no hold, no playbook needs to be read.
  const approvers = own.size === 0 ? [] : await approverRoles(context, [profile]);
  return ({ holdId, roles }) => {
    if (roles.length > 0) return roles;
    return own.has(holdId) ? [...OPERATE, ...approvers] : OPERATE;
  };
}

/** Returns a function that says whether a principal may lift a hold, by the same rule. */
export async function mayLiftOf(
  context: Pick<ActionContext, "store" | "clocks" | "nowMs">,
  profile: BusinessProfile,
  principal: Principal,
): Promise<(hold: Named) => boolean> {
  const lifters = await liftersOf(context, profile, principal);
  return (hold) => hasRole(principal, lifters(hold));
}
