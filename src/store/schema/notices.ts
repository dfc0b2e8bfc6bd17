import { integer, integerOrNull, json, table, text, textOrNull } from "./table.ts";

/** What people are told, and how far the telling is. */
export const noticeTables = {
  /** What people are to be told. Insert-only but for how far the telling is. */
  notices: table(["notice_id"], {
    notice_id: text,
    business_id: text,
    /** A `NoticeKind`; another program may have written others. */
    kind: text,
    /** With business and kind: the fact, told of once. */
    fact_key: text,
    /** Run that it is about, or null. */
    run_id: textOrNull,
    subject: text,
    text: text,
    /** JSON array; empty for everybody who listens. */
    roles: json<readonly string[]>(),
    /** JSON object for programs. */
    data: json<Readonly<Record<string, unknown>>>(),
    /** Vendor whom it is for instead of our own people. */
    contact_id: textOrNull,
    created_at_ms: integer,
    /** When it was turned into deliveries; null until then. */
    routed_at_ms: integerOrNull,
    /** Real instant before which that is not tried (again). */
    route_at_ms: integer,
    route_tries: integer,
    /** Why it reaches nobody, or why routing is still tried. */
    route_problem: textOrNull,
  }),
  /** Facts that were told of together in one notice. */
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
    /** An e-mail address; empty where the channel has one address of its own. */
    target: text,
    /** A `DeliveryState`; a newer program may have written others. */
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
