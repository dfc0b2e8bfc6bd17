import type { StartingEvent } from "../../contracts/events.ts";
import type { Playbook } from "../../contracts/playbook.ts";
import { isCancellationPolicy } from "../cancellations/policy.ts";

/** Older ones start nothing: whatever they asked for has been seen to, or is somebody else's by now. */
const AGE_MAX_MS = 14 * 86_400_000;

/** The service's clock and ours may differ by as much as its signatures allow. */
const SKEW_MS = 300_000;

/** The events that start a playbook; none where it says nothing of them. */
export function eventsOf(playbook: Playbook): readonly StartingEvent[] {
  return playbook.kind === "kyb-onboarding" ? [] : (playbook.events ?? []);
}

/** Who has launched what events start, for people and the audit trail; it approves nothing. */
export function launchedByEvents(playbook: string): string {
  return `events of ${playbook}`;
}

/** What is known of an event when it is held against a playbook. */
export interface EventFacts {
  readonly type: string;
  /** `payable`, `contact` … */
  readonly object: string;
  readonly objectId: string;
  /** When the service made it; when it arrived, where that can't be read. */
  readonly createdAtMs: number;
  /** True where a workflow is at work on its payable, which then does what is to be done. */
  readonly watched: boolean;
}

/**
 * Whether an event starts a playbook.
 *
 * A run follows its payments and never takes one back by itself, so what cancels is started also
 * where a run watches.
 *
 * @param sinceMs since when the stored playbook names the event: what happened before is not meant
 */
export function isStartedBy(
  playbook: Playbook,
  event: EventFacts,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): boolean {
  if (!eventsOf(playbook).some((type) => type === event.type)) return false;
  if (event.createdAtMs < sinceMs - SKEW_MS) return false;
  if (nowMs - event.createdAtMs > AGE_MAX_MS) return false;
  if (!isCancellationPolicy(playbook)) return event.object === "payable" && !event.watched;
  const { vendor } = playbook.choose;
  if (event.object === "contact") return vendor === null || vendor === event.objectId;
  return event.object === "payable";
}
