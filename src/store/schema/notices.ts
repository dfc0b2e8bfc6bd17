import { integer, integerOrNull, json, table, text, textOrNull } from "./table.ts";

/** Notices, and how far their delivery is. */
export const noticeTables = {
  /** Messages to people. Insert-only, except for the columns that say how far routing is. */
  notices: table(["notice_id"], {
    notice_id: text,
    business_id: text,
    /** A `NoticeKind`; another version of the program may have written others. */
    kind: text,
    /** Identifies the fact, with business and kind: a fact has one notice. */
    fact_key: text,
    /** Run that it is about, or null. */
    run_id: textOrNull,
    subject: text,
    text: text,
    /** JSON array; empty for every channel. */
    roles: json<readonly string[]>(),
    /** JSON object for programs. */
    data: json<Readonly<Record<string, unknown>>>(),
    /** Vendor that gets it instead of our own people. */
    contact_id: textOrNull,
    /** The principal that it is for, if the profile has an address of theirs. */
    person: textOrNull,
    created_at_ms: integer,
    /** When it was turned into deliveries; null until then. */
    routed_at_ms: integerOrNull,
    /** Real instant before which routing is not tried (again). */
    route_at_ms: integer,
    route_tries: integer,
    /** Why it reaches no one, or why routing is still tried. */
    route_problem: textOrNull,
  }),
  /** Facts that one notice reports together. */
  notice_facts: table(["business_id", "kind", "fact_key"], {
    business_id: text,
    kind: text,
    fact_key: text,
    notice_id: text,
  }),
  /** One row per notice, channel and address. */
  notice_deliveries: table(["delivery_id"], {
    delivery_id: text,
    notice_id: text,
    business_id: text,
    /** Name of the channel in the profile, or the built-in one for vendors. */
    channel: text,
    /** An e-mail address; empty if the channel has one address of its own. */
    target: text,
    /** A `DeliveryState`; a newer version of the program may have written others. */
    state: text,
    tries: integer,
    next_try_at_ms: integer,
    claimed_by: textOrNull,
    claimed_until_ms: integer,
    /** What went wrong the last time, without secrets. */
    problem: textOrNull,
    created_at_ms: integer,
    ended_at_ms: integerOrNull,
  }),
};
