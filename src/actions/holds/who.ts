import type { BusinessProfile } from "../../config/business-profile.ts";
import { rolesOfRule } from "../../domain/approvals/rules.ts";
import { listPlaybooks } from "../../store/playbooks/playbooks.ts";
import type { ActionContext } from "../context.ts";

/** Roles that the stored playbooks of these businesses let approve. */
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
