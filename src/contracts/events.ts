import type { Playbook } from "./playbook.ts";

/** Events that cast doubt on a bill or a vendor. */
const CHANGES = [
  "payable.declined",
  "payable.cancelled",
  "payable.approval_reset",
  "contact.updated",
  "contact.archived",
] as const;

/**
 * Which of the service's events (API specification, section 6) may start a playbook of each kind.
 *
 * No playbook causes the events that start its own kind: paying a bill approves none, and
 * cancelling a payment changes no vendor. So a playbook can't start itself again.
 */
export const STARTING_EVENTS = {
  "pay-run": ["payable.created", "payable.approved"],
  "retry-failed": ["payable.payment.failed", "payable.payment.reversed"],
  hold: CHANGES,
  "cancel-scheduled": CHANGES,
} as const satisfies Partial<Record<Playbook["kind"], readonly string[]>>;

/** A kind of playbook that events may start. */
export type StartedByEvents = keyof typeof STARTING_EVENTS;

export type StartingEvent = (typeof STARTING_EVENTS)[StartedByEvents][number];

/** An event that started a workflow, as its status shows it. */
export interface StartedBy {
  readonly eventId: string;
  readonly type: string;
  /** What the event is about: a payable's or a contact's id. */
  readonly objectId: string;
}
