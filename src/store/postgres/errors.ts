import { StoreError } from "../sql/errors.ts";
import type { Location } from "./location.ts";

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const LOCK_NOT_AVAILABLE = "55P03";
const QUERY_CANCELED = "57014";
const NO_SUCH_DATABASE = "3D000";
const NO_RIGHTS = "42501";
const UNIQUE_VIOLATION = "23505";
const TOO_MANY_CONNECTIONS = "53300";
const READ_ONLY = "25006";
const DISK_FULL = "53100";
/** The server's disk or its memory fails it. */
const FAILING = /^(58...|53200)$/;

/**
 * The server is shutting down or starting up, has ended our connection, or accepts no more of them.
 */
const GONE = ["57P01", "57P02", "57P03", "57P05", "25P03", "25P04", TOO_MANY_CONNECTIONS];

const SOCKET_ERRORS = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "EAI_AGAIN",
  "ENOTFOUND",
];

/**
 * Constraints of rows that follow the last one. The lock of one business doesn't keep two such
 * inserts apart, so the second transaction has to read the last row again.
 */
const FOLLOW_ON = ["audit_chain", "playbooks_pkey"];

/** Messages of the driver itself, which have no code. */
const LOST_MESSAGE =
  /connection terminated|connection error and is not queryable|timeout exceeded when trying to connect|connection ended unexpectedly|client was closed|query read timeout/i;

/** What poolers refuse, though their code (08P01) is that of a connection that was lost. */
const REFUSED_BY_POOLER = {
  parameter: /unsupported startup parameter/i,
  transactions: /transaction blocks not allowed/i,
  user: /SASL authentication failed|no such user/i,
  database: /no such database/i,
} as const;

type RefusedByPooler = keyof typeof REFUSED_BY_POOLER;

/** What a pooler refuses as long as it has these settings: no retry helps. */
const ALWAYS: readonly (RefusedByPooler | undefined)[] = ["parameter", "transactions"];

/** Returns the SQLSTATE, or the code of the socket's error. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

/** True if the connection is gone or was never there; the same work may succeed on another one. */
function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (ALWAYS.includes(refusedByPooler(error))) return false;
  if (GONE.includes(code) || SOCKET_ERRORS.includes(code) || /^08...$/.test(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isLost);
  return code === "" && error instanceof Error && LOST_MESSAGE.test(error.message);
}

/**
 * True if the session takes no writes: its server is a standby, or was made read-only. Nothing was
 * written; the same work may succeed on a new session, as after a failover.
 */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY;
}

/** True if the session is of no more use, whatever becomes of the work. */
export function isSessionOver(error: unknown): boolean {
  return isLost(error) || isReadOnly(error);
}

function refusedByPooler(error: unknown): RefusedByPooler | undefined {
  if (!(error instanceof Error)) return undefined;
  const names = Object.keys(REFUSED_BY_POOLER) as RefusedByPooler[];
  return names.find((name) => REFUSED_BY_POOLER[name].test(error.message));
}

/**
 * True if nobody could be reached, or if a pooler lets nobody in, as opposed to a connection that
 * was lost later.
 */
export function isNobodyThere(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isNobodyThere);
  if (refusedByPooler(error) !== undefined) return true;
  return ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOENT", "ENOTFOUND"].includes(
    codeOf(error),
  );
}

/** True if the database has undone a transaction because another one was in its way. */
export function isCollision(error: unknown): boolean {
  const code = codeOf(error);
  if (code === SERIALIZATION_FAILURE || code === DEADLOCK) return true;
  return (
    code === UNIQUE_VIOLATION &&
    error instanceof Error &&
    "constraint" in error &&
    FOLLOW_ON.some((constraint) => constraint === error.constraint)
  );
}

type Fault = "read_only" | "full" | "failing";

const SAID: Readonly<Record<Fault, readonly [what: string, remedy: string]>> = {
  read_only: [
    "takes no writes",
    "It is a standby, or was made read-only. Nothing was written. Once the address leads to a " +
      "server that takes writes, they go on by themselves.",
  ],
  full: [
    "has no room on its disk",
    "Nothing was written. Make room on it; writes then go on by themselves.",
  ],
  failing: ["fails", "Look at its log, and at its disk and memory."],
};

/** Returns what keeps the server from writing; undefined if the error is about something else. */
function faultOf(error: unknown): Fault | undefined {
  if (isReadOnly(error)) return "read_only";
  const code = codeOf(error);
  if (code === DISK_FULL) return "full";
  return FAILING.test(code) ? "failing" : undefined;
}

/** Returns the error as users of a store know it; other errors stay as they are. */
export function toStoreError(error: unknown, { text, database, user }: Location): unknown {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  const refused = refusedByPooler(error);
  if (refused === undefined && isLost(error)) {
    return new StoreError(
      "unreachable",
      `The PostgreSQL server of ${text} can't be reached (${reasonOf(error)}). Start it, or set ` +
        "PAYRUN_DATABASE_URL to where it is.",
      cause,
    );
  }
  if (refused === "parameter") {
    return new StoreError(
      "unsupported",
      `The pooler at ${text} refuses a parameter of PAYRUN_DATABASE_URL (${reasonOf(error)}). ` +
        "Take it out of the address; Payrun itself needs none.",
      cause,
    );
  }
  if (refused === "transactions") {
    return new StoreError(
      "unsupported",
      `The pooler at ${text} takes no transactions (${reasonOf(error)}). Set its pool_mode to ` +
        "transaction or session for this database.",
      cause,
    );
  }
  const fault = faultOf(error);
  if (fault !== undefined) {
    const [what, remedy] = SAID[fault];
    const message = `The PostgreSQL server of ${text} ${what} (${reasonOf(error)}). ${remedy}`;
    return new StoreError(fault, message, cause);
  }
  if (code === NO_SUCH_DATABASE || refused === "database") {
    return new StoreError(
      "missing",
      `There is no database "${database}" at ${text}. Create it (createdb ${database}), or set ` +
        "PAYRUN_DATABASE_URL to another one.",
      cause,
    );
  }
  if (
    refused === "user" ||
    /^28...$/.test(code) ||
    /SASL|password must be a string/.test(reasonOf(error))
  ) {
    return new StoreError(
      "refused",
      `The PostgreSQL server of ${text} refuses ${user === "" ? "the user" : `user "${user}"`}: ` +
        "check user and password in PAYRUN_DATABASE_URL.",
      cause,
    );
  }
  if (code === NO_RIGHTS) {
    return new StoreError("refused", `${text}: ${reasonOf(error)}. ${remedyOf(error)}`, cause);
  }
  if (code === LOCK_NOT_AVAILABLE || code === QUERY_CANCELED) {
    return new StoreError(
      "locked",
      `${text}: another process kept the store locked for too long. End what has a transaction ` +
        "open there (select * from pg_stat_activity shows it), then try again.",
      cause,
    );
  }
  return error;
}

/**
 * Returns what to do about missing rights: the roles of `payrun store grants` may use only some
 * tables.
 */
function remedyOf(error: unknown): string {
  return /for table/.test(reasonOf(error))
    ? "Its role may not do this: set PAYRUN_DATABASE_URL to a user whose role may, as a gateway's may read every table. “payrun store grants” prints what each may."
    : "A store is made by the database's owner: set PAYRUN_DATABASE_URL to that user.";
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  if (code === "ECONNREFUSED") return "nothing listens there";
  if (code === "ENOTFOUND") return "no such host";
  return error instanceof Error ? error.message : String(error);
}
