import { isoInstant } from "../../domain/clock/instants.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { CancellationState } from "../../contracts/cancellation.ts";
import type { CancellationStatus } from "../../api/cancellations.ts";
import { cancellationAsksPerson } from "../../domain/cancellations/left-to-people.ts";
import { releasersOf } from "../../domain/cancellations/policy.ts";
import { getCancellation } from "../../store/cancellations/cancellations.ts";
import { countItems, listItems } from "../../store/cancellations/cancellation-items.ts";
import { startedBy } from "../../store/events/event-starts.ts";
import { calledBill, namesOf } from "../../store/names/names.ts";
import type { Stand } from "../../store/runs/run-stand.ts";
import type { ActionContext } from "../../actions/context.ts";
import { zoneOf } from "../moment.ts";
import { itemsNow, waitingForNow } from "./left-items.ts";
import { FIRST_PAGE, type StatusPage } from "./run.ts";

/**
 * Returns the status of a cancellation, from the store.
 *
 * @returns undefined if the store knows no such id
 */
export async function cancellationStatus(
  context: Pick<ActionContext, "store" | "profiles" | "clocks" | "nowMs">,
  id: string,
  { page, pageSize }: Pick<StatusPage, "page" | "pageSize"> = FIRST_PAGE,
): Promise<CancellationStatus | undefined> {
  const { db } = context.store;
  const cancellation = await getCancellation(db, id);
  if (cancellation === undefined) return undefined;
  const events = (await startedBy(db, [id])).get(id);
  const sums = await countItems(db, id);
  const counts: Partial<Record<CancellationState, number>> = {};
  for (const { state, count } of sums) counts[state] = count;
  const before = (page - 1) * pageSize;
  const stored = await listItems(db, id, { offset: before, limit: pageSize });
  const items = await itemsNow(context, cancellation, stored);
  const waitingFor = await waitingForNow(context, cancellation);
  const { businessId } = cancellation;
  const bills = items.flatMap(({ payableId }) => payableId ?? []);
  const names = await namesOf(db, businessId, "bill", bills);
  const totalCount = sums.reduce((sum, { count }) => sum + count, 0);
  const { endedAtMs } = cancellation;
  return {
    id,
    kind: cancellation.policy.kind,
    business: cancellation.business,
    zone: zoneOf(context, cancellation.business),
    playbook: cancellation.playbook === "" ? null : cancellation.playbook,
    phase: cancellation.phase,
    waitingFor,
    releasedBy: [...releasersOf(cancellation.policy)],
    launchedAt: isoInstant(cancellation.requestedAtMs),
    endedAt: endedAtMs === null ? null : isoInstant(endedAtMs),
    ...cancellationStand({
      ended: endedAtMs !== null,
      waitingFor,
      withheld: cancellation.runId === null ? 0 : (counts.withheld ?? 0),
    }),
    counts,
    totalCents: sums.reduce((sum, { cents }) => sum + cents, 0),
    planHash: null,
    reason: cancellation.reason,
    launchedBy: cancellation.requestedBy,
    ...definedOnly({ startedBy: events }),
    payments: items.map((item) => ({
      paymentId: item.paymentId,
      payableId: item.payableId,
      contactId: item.contactId,
      ...calledBill(names.get(item.payableId ?? "")),
      amountCents: item.amountCents,
      state: item.state,
      reason: item.reason,
      holdId: item.holdId,
      releaseBy: item.releaseByMs === null ? null : isoInstant(item.releaseByMs),
    })),
    totalCount,
    page,
    pageSize,
    nextPage: before + pageSize < totalCount ? page + 1 : null,
  };
}

/** Says where a cancellation stands, from what it waits for now. */
export function cancellationStand(of: Parameters<typeof cancellationAsksPerson>[0]): Stand {
  const needsAction = cancellationAsksPerson(of);
  return { needsAction, isFinal: of.ended && !needsAction };
}
