import type { Playbook } from "../../contracts/playbook.ts";
import {
  counted,
  growing,
  integer,
  integerOrNull,
  json,
  jsonOrNull,
  table,
  text,
  textOrNull,
} from "./table.ts";

/** The audit trail, the playbooks by revision, and what only one process does at a time. */
export const recordTables = {
  audit: growing(["audit_id"], {
    audit_id: counted,
    business_id: text,
    at_ms: integer,
    /** A person's or token's name, or a workflow id. */
    actor: text,
    action: text,
    /** What it was done to: a run, payable, hold, token … by its id. */
    subject: text,
    details: json<Readonly<Record<string, unknown>>>(),
    prev_hash: text,
    hash: text,
  }),
  /** Where each business's trail ends: kept by a trigger with every entry, nobody writes it. */
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
    /** The file as it was. */
    text,
    compiled: json<Playbook>(),
    /** Who stored it: they don't count as an approver of its runs. */
    author: text,
    author_token_id: textOrNull,
    created_at_ms: integer,
    /** Who confirmed it as a second person, and when; null where nobody has. */
    confirmed_by: textOrNull,
    confirmed_at_ms: integerOrNull,
  }),
  /** Texts of playbooks that wait for a second person, where a business wants four eyes. */
  playbook_proposals: table(["business", "name"], {
    business: text,
    name: text,
    text,
    author: text,
    author_token_id: textOrNull,
    created_at_ms: integer,
  }),
  /** Who may do what only one process does at a time. */
  leases: table(["name"], {
    name: text,
    holder: text,
    /** Real instant. */
    until_ms: integer,
    /** JSON array of the ids of a worker's encryption keys; null of everything else. */
    key_ids: jsonOrNull<readonly string[]>(),
  }),
};
