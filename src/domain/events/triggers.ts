import { type AuthorKind, SystemAuthor } from "../../contracts/authors.ts";
import { DAY_MS } from "../../contracts/durations.ts";
import type { StartingEvent } from "../../contracts/events.ts";
import type { Playbook } from "../../contracts/playbook.ts";
import { isCancellationPolicy } from "../cancellations/policy.ts";

/** Older events start nothing: what they concern has been handled by now. */
const AGE_MAX_MS = 14 * DAY_MS;

/** Allowed clock difference, the same as for webhook signatures. */
const SKEW_MS = 300_000;

/** Returns the events that start a playbook; empty if it names none. */
export function eventsOf(playbook: Playbook): readonly StartingEvent[] {
  return playbook.kind === "kyb-onboarding" ? [] : (playbook.events ?? []);
}

/** Returns the launcher of what events start. */
export function launchedByEvents(playbook: string): SystemAuthor {
  return new SystemAuthor(`events of ${playbook}`);
}

/** Returns who requested a cancel, for people: the playbook's name if events started it. */
export function askerOf({
  requestedBy,
  requestedByKind,
  playbook,
}: {
  readonly requestedBy: string;
  readonly requestedByKind: AuthorKind;
  readonly playbook: string | null;
}): string {
  const isEvents =
    requestedByKind === "system" &&
    playbook !== null &&
    requestedBy === launchedByEvents(playbook).name;
  return isEvents ? playbook : requestedBy;
}

/** The facts of an event that decide whether it starts a playbook. */
export interface EventFacts {
  readonly type: string;
  /** `payable`, `contact` … */
  readonly object: string;
  readonly objectId: string;
  /** When the service created it, or when it arrived if that can't be read. */
  readonly createdAtMs: number;
  /** True if a workflow owns its payable and handles the event itself. */
  readonly isOwned: boolean;
}

/**
 * True if an event starts a playbook.
 *
 * A run follows its payments but never cancels one by itself, so a cancelling playbook starts even
 * if a run owns the payable.
 *
 * @param sinceMs when the stored playbook began to name the event; earlier events don't count
 */
export function isStartedBy(
  playbook: Playbook,
  event: EventFacts,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): boolean {
  if (!eventsOf(playbook).some((type) => type === event.type)) return false;
  if (event.createdAtMs < sinceMs - SKEW_MS) return false;
  if (nowMs - event.createdAtMs > AGE_MAX_MS) return false;
  if (!isCancellationPolicy(playbook)) return event.object === "payable" && !event.isOwned;
  const { vendor } = playbook.choose;
  if (event.object === "contact") return vendor === null || vendor === event.objectId;
  return event.object === "payable";
}
