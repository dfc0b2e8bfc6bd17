import type { CancellationState, CancellationStatus } from "../../contracts/cancellation.ts";
import { getCancellation, listItems } from "../../store/cancellations.ts";
import { startedBy } from "../../store/event-starts.ts";
import type { Db } from "../../store/index.ts";

/**
 * The status of a cancellation, from the store alone.
 *
 * @returns undefined where the store knows no such id
 */
export async function cancellationStatus(
  db: Db,
  id: string,
): Promise<CancellationStatus | undefined> {
  const cancellation = await getCancellation(db, id);
  if (cancellation === undefined) return undefined;
  const items = await listItems(db, id);
  const events = (await startedBy(db, [id])).get(id);
  const counts: Partial<Record<CancellationState, number>> = {};
  for (const { state } of items) counts[state] = (counts[state] ?? 0) + 1;
  const { endedAtMs } = cancellation;
  return {
    id,
    kind: "cancel-scheduled",
    business: cancellation.business,
    playbook: cancellation.playbook,
    how: cancellation.policy.how,
    phase: cancellation.phase,
    waitingFor: endedAtMs === null ? cancellation.waitingFor : null,
    needsAction:
      items.some(({ state }) => state === "withheld") ||
      (endedAtMs !== null && cancellation.phase === "completed-with-exceptions"),
    counts,
    totalCents: items.reduce((sum, { amountCents }) => sum + amountCents, 0),
    planHash: null,
    reason: cancellation.reason,
    launchedBy: cancellation.requestedBy,
    ...(events === undefined ? {} : { startedBy: events }),
    launchedAt: instant(cancellation.requestedAtMs),
    endedAt: endedAtMs === null ? null : instant(endedAtMs),
    payments: items.map((item) => ({
      paymentId: item.paymentId,
      payableId: item.payableId,
      amountCents: item.amountCents,
      state: item.state,
      reason: item.reason,
      holdId: item.holdId,
      releaseBy: item.releaseByMs === null ? null : instant(item.releaseByMs),
    })),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
