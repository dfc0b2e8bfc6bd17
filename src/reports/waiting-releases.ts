import type { ActionContext } from "../actions/context.ts";
import type { Principal } from "../actions/principal.ts";
import type { WaitingRelease } from "../api/overview.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { releasersOf } from "../domain/cancellations/policy.ts";
import { sumCents } from "../domain/money.ts";
import { listItems } from "../store/cancellations/cancellation-items.ts";
import { listCancellations } from "../store/cancellations/cancellation-list.ts";
import { hasRole } from "../domain/approvals/token.ts";

/** The most that one business shows as waiting: more at once are too many for a day. */
export const WAITING_MOST = 50;

/**
 * Returns a business's bills that are held back until a person releases them, as one person sees
 * them, the nearest time first. Bills that were not released in time are included.
 */
export async function waitingReleases(
  { store }: Pick<ActionContext, "store">,
  { businessId }: BusinessProfile,
  principal: Principal,
): Promise<WaitingRelease[]> {
  const waiting: WaitingRelease[] = [];
  const asked = { businessId, holdsBack: true, limit: WAITING_MOST } as const;
  for (const each of await listCancellations(store.db, asked)) {
    const { workflowId: id, business, playbook, runId, policy } = each;
    const releasedBy = releasersOf(policy);
    if (runId === null || releasedBy.length === 0) continue;
    const items = await listItems(store.db, id);
    const kept = items.filter(({ state }) => state === "withheld");
    const times = kept.flatMap(({ releaseByMs }) => releaseByMs ?? []);
    waiting.push({
      id,
      business,
      playbook,
      runId,
      bills: { count: kept.length, cents: sumCents(kept.map(({ amountCents }) => amountCents)) },
      holds: kept.flatMap(({ holdId }) => holdId ?? []),
      releasedBy: [...releasedBy],
      releaseBy: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
      yours: hasRole(principal, releasedBy),
    });
  }
  return waiting.toSorted((one, other) =>
    (one.releaseBy ?? "9").localeCompare(other.releaseBy ?? "9"),
  );
}
