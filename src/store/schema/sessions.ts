import type { KeptForm } from "../../domain/approvals/session.ts";
import { integer, integerOrNull, jsonOrNull, table, text, textOrNull, word } from "./table.ts";

/** Whose it is: a token's, or somebody's whom a provider of identities vouches for. */
const holder = {
  /** Null where it stands on a provider's word. */
  token_id: textOrNull,
  issuer: textOrNull,
  subject: textOrNull,
  /** JSON array of profile names that it acts for; null where its token says so. */
  businesses: jsonOrNull<readonly string[]>(),
  name: text,
  way: word<"link" | "mail" | "provider">(),
  /** When the person showed who they are. */
  signed_in_at_ms: integer,
  expires_at_ms: integer,
};

/** Who is signed in at the console, and the links that sign somebody in. */
export const sessionTables = {
  sessions: table(["session_id"], {
    session_id: text,
    session_hash: text,
    ...holder,
    ended_at_ms: integerOrNull,
    ended_by: textOrNull,
    /** What somebody had filled in when they were asked to sign in again: theirs alone. */
    kept_form: jsonOrNull<KeptForm>(),
  }),
  /** Used once: the row goes with it. */
  sign_in_links: table(["code_hash"], { code_hash: text, ...holder }),
};
