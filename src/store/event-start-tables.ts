/** An event that starts what a playbook says: one row for each, however often it is delivered. */
export interface EventStartsTable {
  business_id: string;
  playbook: string;
  event_id: string;
  /** The run that bills are withheld from; else empty. */
  target: string;
  type: string;
  /** What the event is about: a payable's or a contact's id. */
  object_id: string;
  /** waiting | recorded | started | dropped */
  state: string;
  /** Real instant from which it is to be started. */
  due_at_ms: number;
  /** What it started; null until that is recorded. */
  workflow_id: string | null;
  noted_at_ms: number;
  recorded_at_ms: number | null;
}
