import { sql } from "kysely";
import type { Db } from "../sql/db.ts";

const STATEMENT_MS = 60_000;
/** The longest that a process that froze within a transaction keeps others waiting. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** By now the server would have ended the statement: nobody is there any more. */
const SILENT_AFTER_MS = 10_000;

/** How long the server lets statements, waits for locks and idle transactions last. */
interface Limits {
  /** By the names of the server's settings, in milliseconds. */
  readonly settings: Readonly<Record<Setting, number>>;
  /** How long this process waits for the answer to a statement. */
  readonly answerMs: number;
}

const SETTINGS = [
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
] as const;

type Setting = (typeof SETTINGS)[number];

export function timeLimits(lockMs: number): Limits {
  const statementMs = Math.max(STATEMENT_MS, 2 * lockMs);
  return {
    settings: {
      statement_timeout: statementMs,
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
    answerMs: statementMs + SILENT_AFTER_MS,
  };
}

/**
 * Returns the statements that begin a transaction under the limits.
 *
 * The limits are set anew in each transaction, single statements included, because a pooler such as
 * PgBouncer takes them neither as startup parameters nor, if it gives each transaction another
 * session, as settings of a session.
 */
export function beginStatements({ settings }: Limits): string[] {
  return [
    "begin isolation level read committed",
    ...SETTINGS.map((name) => `set local ${name} = ${settings[name]}`),
  ];
}

/** Returns the names of the limits that don't hold in the store's own statements. */
export async function limitsOff(db: Db): Promise<string[]> {
  const columns = SETTINGS.map((name) => sql<string>`current_setting(${name})`.as(name));
  const row = await db.selectNoFrom(columns).executeTakeFirstOrThrow();
  return SETTINGS.filter((name) => row[name] === "0");
}
