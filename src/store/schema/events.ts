import { flag, integer, integerOrNull, table, text, textOrNull, word } from "./table.ts";

/** The events that arrived, the workflows that get them, and what the events have started. */
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
  /** Which workflow gets the events of a payable; outlives its run by the return window. */
  subscriptions: table(["business_id", "payable_id"], {
    business_id: text,
    payable_id: text,
    /** The profile's name. */
    business: text,
    /** Workflow id. */
    owner: text,
    /** Business-clock instant after which no workflow needs the events. */
    until_ms: integer,
  }),
  /** A signal that is still to be sent to a workflow; deleted once it was sent. */
  pending_signals: table(["signal_id"], {
    signal_id: text,
    business_id: text,
    workflow_id: text,
    at_ms: integer,
  }),
  /** What a playbook starts on an event: one row each, however often the event is delivered. */
  event_starts: table(["business_id", "playbook", "event_id", "target"], {
    business_id: text,
    playbook: text,
    event_id: text,
    /** The run whose bills are held back; else empty. */
    target: text,
    type: text,
    /** What the event is about: a payable's or a contact's id. */
    object_id: text,
    /** waiting | recorded | started | dropped */
    state: text,
    /** Real instant from which the start is due. */
    due_at_ms: integer,
    /** The workflow that it started; null until that is recorded. */
    workflow_id: textOrNull,
    noted_at_ms: integer,
    recorded_at_ms: integerOrNull,
  }),
  /** A bank account that events were about: one row, however many events. */
  account_looks: table(["business_id", "account_id"], {
    business_id: text,
    account_id: text,
    /** How many events have asked for a look, and how many of them have got one. */
    asked: integer,
    looked: integer,
    /** Real instant from which the next look is due. */
    due_at_ms: integer,
    /** Looks in a row that have failed. */
    tries: integer,
    /** True if the last look found the account removed. */
    removed: flag,
  }),
};
