import { integer, integerOrNull, json, jsonOrNull, table, text, textOrNull } from "./table.ts";

/** Requests that came with a key of their sender's, so that a repeat of one does nothing new. */
export const requestTables = {
  /** One request, however often it came; forgotten after seven days. */
  keyed_requests: table(["principal", "operation", "key_hash", "business_id"], {
    /** As `principalOf` writes it. */
    principal: text,
    /** Method and path in OpenAPI form. */
    operation: text,
    key_hash: text,
    /** The business that the request names or its token is for; empty if neither says one. */
    business_id: text,
    request_id: text,
    /** Hash of what was asked, under the key: it may contain personal data. */
    request_hash: text,
    /** What the credential was for under which it was carried out. */
    roles: json<readonly string[]>(),
    businesses: jsonOrNull<readonly string[]>(),
    /** Null until it is answered. */
    status: integerOrNull,
    /** As `packed` writes it. */
    answer: textOrNull,
    /** About how much of the store it takes, with what it has done. */
    bytes: integer,
    created_at_ms: integer,
  }),
  /** What a request has done, written with it: one row for each of its transactions. */
  keyed_effects: table(["request_id", "business_id", "part"], {
    request_id: text,
    business_id: text,
    part: text,
    /** JSON, as `packed` writes it: `{ value }`, what the transaction returned. */
    outcome: text,
  }),
};
