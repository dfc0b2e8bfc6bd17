import type { ActionContext } from "../actions/context.ts";
import type { Principal } from "../actions/principal.ts";
import type { WaitingCancellation } from "../api/overview.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { hasRole, OPERATE } from "../domain/approvals/token.ts";
import { listCancellations } from "../store/cancellations/cancellation-list.ts";
import { leftNow } from "./status/left-items.ts";
import { WAITING_MOST } from "./waiting-releases.ts";

/**
 * Returns a business's cancellations that ended with exceptions about which a person can still do
 * something, as one person sees them, the newest first. Bills to release are not among them.
 */
export async function waitingCancellations(
  context: Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">,
  { businessId }: BusinessProfile,
  principal: Principal,
): Promise<WaitingCancellation[]> {
  const waiting: WaitingCancellation[] = [];
  const asked = { businessId, phase: "completed-with-exceptions", limit: WAITING_MOST } as const;
  for (const each of await listCancellations(context.store.db, asked)) {
    const waitingFor = await leftNow(context, each);
    if (waitingFor === null) continue;
    waiting.push({
      id: each.workflowId,
      kind: each.policy.kind,
      business: each.business,
      launchedBy: each.requestedBy,
      launchedByKind: each.requestedByKind,
      waitingFor,
      roles: [...OPERATE],
      yours: hasRole(principal, OPERATE),
    });
  }
  return waiting;
}
