import type { AuthorKind } from "../../contracts/authors.ts";
import type { Playbook } from "../../contracts/playbook.ts";
import {
  autoNumber,
  growing,
  integer,
  integerOrNull,
  json,
  jsonOrNull,
  table,
  text,
  textOrNull,
  word,
} from "./table.ts";

/** The audit trail, the playbooks by revision, and leases. */
export const recordTables = {
  audit: growing(["audit_id"], {
    audit_id: autoNumber,
    business_id: text,
    at_ms: integer,
    /** A principal's name, or what the system calls itself: a workflow's id, for example. */
    actor: text,
    actor_kind: word<AuthorKind>(),
    action: text,
    /** Id of what it was done to: a run, payable, hold, token … */
    subject: text,
    details: json<Readonly<Record<string, unknown>>>(),
    prev_hash: text,
    hash: text,
  }),
  /** The end of each business's trail. A trigger updates it with every entry; no code writes it. */
  audit_ends: table(["business_id"], {
    business_id: text,
    entries: integer,
    hash: text,
  }),
  playbooks: table(["business", "name", "revision"], {
    name: text,
    /** 1, 2, … */
    revision: integer,
    kind: text,
    /** Profile name of the business that it belongs to. */
    business: text,
    /** The file's text, unchanged. */
    text,
    compiled: json<Playbook>(),
    /** Who stored it; that person doesn't count as an approver of its runs. */
    author: text,
    author_token_id: textOrNull,
    created_at_ms: integer,
    /** The second person who confirmed it, and when; null if no one has. */
    confirmed_by: textOrNull,
    confirmed_at_ms: integerOrNull,
  }),
  /** Playbooks that wait for a second person's confirmation, in businesses with four eyes. */
  playbook_proposals: table(["business", "name"], {
    business: text,
    name: text,
    text,
    author: text,
    author_token_id: textOrNull,
    created_at_ms: integer,
  }),
  /** Secrets of the store's own. */
  secrets: growing(["name"], {
    name: text,
    secret: text,
    /** On the database's clock. */
    made_at_ms: integer,
  }),
  /** Which process may do something that only one does at a time. */
  leases: table(["name"], {
    name: text,
    holder: text,
    /** Real instant. */
    until_ms: integer,
    /** JSON array of the ids of a worker's encryption keys; null for every other lease. */
    key_ids: jsonOrNull<readonly string[]>(),
  }),
};
