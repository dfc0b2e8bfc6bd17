import type { AuthorKind } from "../../contracts/authors.ts";
import type { KeptForm } from "../../domain/approvals/session.ts";
import {
  integer,
  integerOrNull,
  jsonOrNull,
  table,
  text,
  textOrNull,
  word,
  wordOrNull,
} from "./table.ts";

/** The holder: a token, or a person whom an identity provider vouches for. */
const holder = {
  /** Null if an identity provider vouches for the holder. */
  token_id: textOrNull,
  issuer: textOrNull,
  subject: textOrNull,
  /** JSON array of profile names that it acts for; null if its token determines them. */
  businesses: jsonOrNull<readonly string[]>(),
  name: text,
  way: word<"link" | "mail" | "provider">(),
  /** When the person proved who they are. */
  signed_in_at_ms: integer,
  expires_at_ms: integer,
};

/** Sessions of people who are signed in at the console, and links that sign a person in. */
export const sessionTables = {
  sessions: table(["session_id"], {
    session_id: text,
    session_hash: text,
    ...holder,
    ended_at_ms: integerOrNull,
    ended_by: textOrNull,
    ended_by_kind: wordOrNull<AuthorKind>(),
    /** What the person had filled in when they had to sign in again; only they get it back. */
    kept_form: jsonOrNull<KeptForm>(),
  }),
  /** A link works once: using it deletes the row. */
  sign_in_links: table(["code_hash"], { code_hash: text, ...holder }),
};
