import { eventStarted } from "../domain/facts/businesses.ts";
import { record } from "../store/facts/record.ts";
import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import type { BusinessProfile } from "../config/business-profile.ts";
import {
  cancelScheduledPaymentsId,
  retryFailedPaymentId,
  holdBackRequest,
} from "../contracts/workflow-kinds.ts";
import type { PayRunPlaybook } from "../contracts/playbook.ts";
import {
  type CancellationPolicy,
  isCancellationPolicy,
  narrowed,
} from "../domain/cancellations/policy.ts";
import { eventsOf, launchedByEvents } from "../domain/events/triggers.ts";
import { offCycleInputs, offCyclePeriod } from "../domain/off-cycle.ts";
import { insertCancellation } from "../store/cancellations/cancellations.ts";
import { type EventStart, recordEventStarts, stillWaiting } from "../store/events/event-starts.ts";
import type { Tables } from "../store/index.ts";
import { namesOf } from "../store/names/names.ts";
import { getPlaybook, type StoredPlaybook } from "../store/playbooks/playbooks.ts";
import { launchStored } from "../store/runs/launch-in-trail.ts";

interface Work {
  readonly profile: BusinessProfile;
  readonly stored: StoredPlaybook;
  /** Today in New York, on the business clock. */
  readonly date: string;
  readonly nowMs: number;
}

/**
 * Makes the rows for what the events of one playbook start, by its revision in force, with the
 * marks of the events. An event that another process has recorded, or that the playbook no longer
 * names, starts nothing.
 *
 * @param events of one playbook and target
 * @returns ids of the workflows to start
 */
export async function recordStarts(
  trx: Transaction<Tables>,
  profile: BusinessProfile,
  events: readonly EventStart[],
  at: { readonly date: string; readonly nowMs: number },
): Promise<string[]> {
  const waiting = await stillWaiting(trx, events);
  const [first] = waiting;
  if (first === undefined) return [];
  const stored = await getPlaybook(trx, { business: profile.name, name: first.playbook });
  const named: readonly string[] = stored === undefined ? [] : eventsOf(stored.compiled);
  const dropped = waiting.filter(({ type }) => !named.includes(type));
  const wanted = waiting.filter(({ type }) => named.includes(type));
  await recordEventStarts(trx, dropped, null, at.nowMs);
  if (stored === undefined || wanted.length === 0) return [];
  return recordKind(trx, { profile, stored, ...at }, wanted);
}

async function recordKind(
  trx: Transaction<Tables>,
  work: Work,
  events: readonly EventStart[],
): Promise<string[]> {
  const { compiled } = work.stored;
  if (compiled.kind === "pay-run") {
    const runId = await recordRun(trx, work, compiled, events);
    return [await mark(trx, work, events, runId)];
  }
  const ids: string[] = [];
  for (const [objectId, of] of Map.groupBy(events, (event) => event.objectId)) {
    const workflowId = isCancellationPolicy(compiled)
      ? await recordCancellation(trx, work, compiled, of)
      : retryFailedPaymentId(work.profile.name, objectId);
    ids.push(await mark(trx, work, of, workflowId));
  }
  return ids;
}

/** Records one off-cycle run for the bills that the events are about. */
async function recordRun(
  trx: Transaction<Tables>,
  { profile, stored, date, nowMs }: Work,
  policy: PayRunPlaybook,
  events: readonly EventStart[],
): Promise<string> {
  const payableIds = [...new Set(events.map(({ objectId }) => objectId))];
  const request = { payableIds, amountCents: null };
  const { runId } = await launchStored(trx, {
    businessId: profile.businessId,
    business: profile.name,
    playbook: stored.name,
    playbookRevision: stored.revision,
    policy,
    period: offCyclePeriod(date, request, `events:${markOf(events)}`),
    inputs: offCycleInputs(request),
    launchedBy: launchedByEvents(stored.name),
    launchedByTokenId: null,
    nowMs,
    once: true,
  });
  return runId;
}

/**
 * Returns what events were about, such as `events about vendor Copperline Cookware`, with the name
 * if it is known. What they say is no fact; the look adds what the service shows.
 */
async function whatAbout(
  trx: Transaction<Tables>,
  businessId: string,
  { type, objectId }: Pick<EventStart, "type" | "objectId">,
): Promise<string> {
  const kind = type.startsWith("contact.") ? "vendor" : "bill";
  const known = (await namesOf(trx, businessId, kind, [objectId])).get(objectId);
  const name = [known?.name, known?.number].filter((part) => part != null).join(" ");
  return `events about ${kind} ${name === "" ? objectId : name}`;
}

/** Records a cancellation for the vendor or the bill that the events are about. */
async function recordCancellation(
  trx: Transaction<Tables>,
  { profile, stored, nowMs }: Work,
  policy: CancellationPolicy,
  events: readonly EventStart[],
): Promise<string> {
  const [first] = events;
  const { type = "", objectId = "", target = "" } = first ?? {};
  const toWhat = type.startsWith("contact.") ? { vendor: objectId } : { payable: objectId };
  const about = target === "" ? stored.name : holdBackRequest(stored.name, target);
  const workflowId = cancelScheduledPaymentsId(profile.name, `${about}/event-${markOf(events)}`);
  await insertCancellation(trx, {
    workflowId,
    businessId: profile.businessId,
    business: profile.name,
    playbook: stored.name,
    policy: narrowed(policy, toWhat),
    runId: target === "" ? null : target,
    reason: await whatAbout(trx, profile.businessId, { type, objectId }),
    requestedBy: launchedByEvents(stored.name),
    nowMs,
  });
  return workflowId;
}

async function mark(
  trx: Transaction<Tables>,
  { profile, stored, nowMs }: Work,
  events: readonly EventStart[],
  workflowId: string,
): Promise<string> {
  await recordEventStarts(trx, events, workflowId, nowMs);
  const by = launchedByEvents(stored.name);
  await record(
    trx,
    eventStarted(
      { businessId: profile.businessId, nowMs, by, subject: workflowId },
      {
        playbook: stored.name,
        revision: stored.revision,
        events: events.map(({ eventId, type, objectId }) => ({ eventId, type, objectId })),
      },
    ),
  );
  return workflowId;
}

/** Returns the mark of some events, the same in every process that starts something for them. */
function markOf(events: readonly EventStart[]): string {
  const ids = events.map(({ eventId }) => eventId).toSorted();
  return createHash("sha256").update(JSON.stringify(ids)).digest("hex").slice(0, 12);
}
