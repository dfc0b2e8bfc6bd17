import type { BusinessProfile } from "../config/business-profile.ts";
import { STARTING_EVENTS } from "../contracts/events.ts";
import type { Playbook } from "../contracts/playbook.ts";
import { eventsOf, isStartedBy } from "../domain/events/triggers.ts";
import { claimOwners } from "../store/payables/claims.ts";
import type { EventStart } from "../store/events/event-starts.ts";
import type { InboxEvent } from "../store/events/inbox.ts";
import { listPlaybooks, playbookRevisions } from "../store/playbooks/playbooks.ts";
import { openRuns } from "../store/janitor/open-runs.ts";
import type { ActionContext } from "../actions/context.ts";

/**
 * An event that starts a playbook, and whether other events of the playbook start the same thing.
 */
export interface Match {
  readonly start: EventStart;
  readonly together: boolean;
}

type Matching = Pick<ActionContext, "store" | "nowMs">;

const TYPES: ReadonlySet<string> = new Set(Object.values(STARTING_EVENTS).flat());

/**
 * Returns which stored playbooks these events start, by the revision in force.
 *
 * @param subscribed payables whose workflow has the event already
 */
export async function matchEvents(
  context: Matching,
  profile: BusinessProfile,
  events: readonly InboxEvent[],
  subscribed: ReadonlySet<string>,
): Promise<Match[]> {
  const known = events.filter(({ type }) => TYPES.has(type));
  if (known.length === 0) return [];
  const playbooks = await startedPlaybooks(context, profile, known);
  if (playbooks.length === 0) return [];
  const owners = await ownersOf(context, profile, known);
  const { businessId } = profile;
  const nowMs = context.nowMs();
  return playbooks.flatMap(({ compiled, targets, since }) => {
    const together = compiled.kind === "pay-run";
    return known.flatMap((event): Match[] => {
      const { type, object, objectId, eventId } = event;
      const createdAtMs = createdAtMsOf(event);
      // The owner of a payable already pays it.
      const hasOwner = subscribed.has(objectId) || (together && owners.has(objectId));
      const facts = { type, object, objectId, createdAtMs, isOwned: hasOwner };
      if (!isStartedBy(compiled, facts, { sinceMs: since(type), nowMs })) return [];
      const start = { businessId, playbook: compiled.name, eventId, type, objectId };
      return targets.map((target) => ({ start: { ...start, target }, together }));
    });
  });
}

function createdAtMsOf({ createdAt, receivedAtMs }: InboxEvent): number {
  const createdAtMs = Date.parse(createdAt);
  return Number.isNaN(createdAtMs) ? receivedAtMs : Math.min(createdAtMs, receivedAtMs);
}

interface Started {
  readonly compiled: Playbook;
  /** What it is put into force on, each separately; one empty text if that is no run. */
  readonly targets: readonly string[];
  /** Returns the real instant since which it names an event. */
  readonly since: (type: string) => number;
}

async function startedPlaybooks(
  context: Matching,
  profile: BusinessProfile,
  events: readonly InboxEvent[],
): Promise<Started[]> {
  const { db } = context.store;
  const types = new Set(events.map(({ type }) => type));
  const started: Started[] = [];
  for (const { compiled, ...stored } of await listPlaybooks(db, profile.name)) {
    const isNamed = eventsOf(compiled).some((type) => types.has(type));
    if (!isNamed) continue;
    const revisions = await playbookRevisions(db, stored);
    started.push({
      compiled,
      targets: await targetsOf(context, profile, compiled),
      since: (type) => {
        const without = revisions.findIndex(
          (revision) => !eventsOf(revision.compiled).some((each) => each === type),
        );
        const first = without === -1 ? revisions.at(-1) : revisions[without - 1];
        return first?.createdAtMs ?? Number.POSITIVE_INFINITY;
      },
    });
  }
  return started;
}

/**
 * Returns what a playbook is put into force on: each run of a hold-back, and one thing otherwise.
 */
async function targetsOf(
  { store }: Matching,
  { businessId }: BusinessProfile,
  playbook: Playbook,
): Promise<string[]> {
  if (playbook.kind !== "hold") return [""];
  const runs = await openRuns(store.db, businessId);
  return runs.flatMap((run) => (run.playbook === playbook.choose.run ? [run.runId] : []));
}

function ownersOf(
  { store }: Matching,
  { businessId }: BusinessProfile,
  events: readonly InboxEvent[],
): Promise<ReadonlyMap<string, string>> {
  const payables = events.flatMap(({ object, objectId }) => (object === "payable" ? objectId : []));
  return claimOwners(store.db, businessId, [...new Set(payables)]);
}
