import type { AuthorKind } from "../../contracts/authors.ts";
import type { WaitCode } from "../../contracts/reason-codes.ts";
import type { HoldScopeName } from "../../domain/holds.ts";
import {
  integer,
  integerOrNull,
  json,
  readAs,
  table,
  text,
  textOrNull,
  word,
  wordOrNull,
} from "./table.ts";

/** What keeps a bill from being paid twice (claims), and what it waits for (holds, waits). */
export const paymentTables = {
  claims: table(["business_id", "payable_id"], {
    business_id: text,
    payable_id: text,
    /** Workflow id. */
    owner: text,
    claimed_at_ms: integer,
  }),
  holds: table(["hold_id"], {
    hold_id: text,
    business_id: text,
    /** A newer version of the program may have written others. */
    scope: readAs<HoldScopeName>(),
    /** Id or name within the scope; empty for all. */
    value: text,
    reason: text,
    author: text,
    author_kind: word<AuthorKind>(),
    /** JSON array of the only roles that may release it; empty if any operator may. */
    roles: json<readonly string[]>(),
    created_at_ms: integer,
    /** Business-clock instant of its end; null if it has none. */
    until_ms: integerOrNull,
    released_at_ms: integerOrNull,
    released_by: textOrNull,
    released_by_kind: wordOrNull<AuthorKind>(),
  }),
  /** A fault of the whole business: one wait, never one per bill. */
  business_waits: table(["business_id", "source_id", "code"], {
    business_id: text,
    /** Funding source id for money faults; empty for the whole business. */
    source_id: text,
    /** The service's code, for example `insufficient_balance`; `rate_limited` for a 429. */
    code: readAs<WaitCode>(),
    message: text,
    since_ms: integer,
    /** Service-clock instant of the next try. */
    retry_at_ms: integer,
    /** How many single requests have tried since whether it is over. */
    tries: integer,
  }),
};
