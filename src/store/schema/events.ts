import { integer, integerOrNull, table, text, textOrNull, word } from "./table.ts";

/** What arrived, who waits for it, and what it has started. */
export const eventTables = {
  inbox: table(["business_id", "event_id"], {
    business_id: text,
    event_id: text,
    type: text,
    /** Decimal text: it exceeds 2^53. */
    sequence: text,
    object: text,
    object_id: text,
    /** ISO instant, as the service wrote it. */
    created_at: text,
    received_at_ms: integer,
    via: word<"webhook" | "deliveries">(),
    /** Exactly as signed. */
    body: text,
    dispatched_at_ms: integerOrNull,
  }),
  /** Which workflow wants to hear about a payable; outlives its run by the return window. */
  subscriptions: table(["business_id", "payable_id"], {
    business_id: text,
    payable_id: text,
    /** The profile's name. */
    business: text,
    /** Workflow id. */
    owner: text,
    /** Business-clock instant after which nobody cares any more. */
    until_ms: integer,
  }),
  /** A workflow that is to be told to look; gone once it has been. */
  pending_signals: table(["signal_id"], {
    signal_id: text,
    business_id: text,
    workflow_id: text,
    at_ms: integer,
  }),
  /** An event that starts what a playbook says: one row for each, however often it is delivered. */
  event_starts: table(["business_id", "playbook", "event_id", "target"], {
    business_id: text,
    playbook: text,
    event_id: text,
    /** The run that bills are withheld from; else empty. */
    target: text,
    type: text,
    /** What the event is about: a payable's or a contact's id. */
    object_id: text,
    /** waiting | recorded | started | dropped */
    state: text,
    /** Real instant from which it is to be started. */
    due_at_ms: integer,
    /** What it started; null until that is recorded. */
    workflow_id: textOrNull,
    noted_at_ms: integer,
    recorded_at_ms: integerOrNull,
  }),
};
