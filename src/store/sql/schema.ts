import { createHash } from "node:crypto";
import { type Kysely, sql, type Transaction } from "kysely";
import { databaseNowMs } from "./database-clock.ts";
import { StoreError } from "./errors.ts";
import { TABLES, type Tables } from "../schema/tables.ts";
import { type DdlDialect, tableStatements } from "../schema/ddl.ts";
import { INDEXES } from "../schema/indexes.ts";
import type { Table } from "../schema/table.ts";

/** The prefix of our tables that hold no business's data; no other program's tables have it. */
const OUR_PREFIX = "payrun_";

/** The table whose one row shows whose the database is, and which schema it was made with. */
const MARK_TABLE = "payrun_schema";

interface MarkTables extends Tables {
  [MARK_TABLE]: { version: string; made_at_ms: number };
}

/** What a database turns out to be before anything is written to it. */
type StoreState =
  | { readonly kind: "empty" }
  | { readonly kind: "foreign"; readonly table: string }
  /** `version` is null if another version of Payrun recorded it in another way. */
  | { readonly kind: "ours"; readonly version: string | null };

/** How messages refer to a database. */
export interface StorePlace {
  readonly location: string;
  /** What its owner does to make room for a new store there, as an infinitive without “to”. */
  readonly makeRoom: string;
}

/**
 * Finds out whose database this is from the names of its tables. Refuses a database that isn't ours
 * to open, or that was made with another schema.
 *
 * @returns true if the store exists, false if the database is empty
 * @throws {StoreError} `foreign`, `incompatible`
 */
export async function checkStore(
  db: Kysely<Tables> | Transaction<Tables>,
  tableNames: readonly string[],
  ddl: DdlDialect,
  place: StorePlace,
): Promise<boolean> {
  const state = await inspectStore(db, tableNames);
  if (state.kind === "empty") return false;
  if (state.kind === "foreign") {
    throw new StoreError(
      "foreign",
      `${place.location} is a database of something else (it has a table "${state.table}" and no ` +
        "mark of Payrun). It was left alone; set PAYRUN_DATABASE_URL to another one.",
    );
  }
  const version = versionOf(ddl);
  if (state.version !== version) {
    const made = state.version === null ? "" : `with schema ${state.version}, `;
    throw new StoreError(
      "incompatible",
      `${place.location} was made by another version of Payrun (${made}this one has schema ` +
        `${version}); until the first release, none brings one to the other. It was left alone. ` +
        "With the version that made it, let its runs end and keep its trail (payrun audit " +
        `export). Then ${place.makeRoom}, or set PAYRUN_DATABASE_URL to another one.`,
    );
  }
  return true;
}

async function inspectStore(
  db: Kysely<Tables> | Transaction<Tables>,
  tableNames: readonly string[],
): Promise<StoreState> {
  const [first] = tableNames;
  if (first === undefined) return { kind: "empty" };
  if (!tableNames.includes(MARK_TABLE)) {
    return tableNames.some((name) => name.startsWith(OUR_PREFIX))
      ? { kind: "ours", version: null }
      : { kind: "foreign", table: first };
  }
  const mark = await db
    .withTables<Pick<MarkTables, typeof MARK_TABLE>>()
    .selectFrom(MARK_TABLE)
    .select("version")
    .executeTakeFirst();
  return { kind: "ours", version: mark?.version ?? null };
}

/**
 * Creates all tables in an empty database, within the caller's transaction.
 *
 * The caller must have read in the same transaction that the database is empty: another process may
 * have created the tables while this one waited for the lock.
 */
export async function makeSchema(trx: Transaction<Tables>, ddl: DdlDialect): Promise<void> {
  for (const statement of statementsOf(ddl)) await sql.raw(statement).execute(trx);
  await trx
    .withTables<Pick<MarkTables, typeof MARK_TABLE>>()
    .insertInto(MARK_TABLE)
    .values({ version: versionOf(ddl), made_at_ms: await databaseNowMs(trx) })
    .execute();
}

function statementsOf(ddl: DdlDialect): string[] {
  const tables = [
    `create table ${MARK_TABLE} (
      version text primary key not null,
      made_at_ms bigint not null
    )`,
    ...Object.entries<Table>(TABLES).flatMap(([name, of]) => tableStatements(name, of, ddl)),
    ...ddl.keepAuditEnds,
    ...INDEXES,
  ];
  return [...ddl.own, ...tables.map((statement) => ddl.adapt(statement))];
}

/**
 * Returns a version that differs for every schema. It is a hash, so no person has to remember to
 * increase a number. Line breaks and indentation don't change it.
 */
function versionOf(ddl: DdlDialect): string {
  const text = statementsOf(ddl).join(";\n").replaceAll(/\s+/g, " ");
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
