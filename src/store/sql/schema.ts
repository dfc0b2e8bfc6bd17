import { createHash } from "node:crypto";
import { type Kysely, sql, type Transaction } from "kysely";
import { databaseNowMs } from "./database-clock.ts";
import { StoreError } from "./errors.ts";
import { TABLES, type Tables } from "../schema/tables.ts";
import { type DdlDialect, tableStatements } from "../schema/ddl.ts";
import { INDEXES } from "../schema/indexes.ts";
import type { Table } from "../schema/table.ts";

/** Tables of ours that hold no business's data begin like this, and no other program's do. */
const OUR_PREFIX = "payrun_";

/** The one row of this table shows whose the database is, and which schema it was made with. */
const MARK_TABLE = "payrun_schema";

interface MarkTables extends Tables {
  [MARK_TABLE]: { version: string; made_at_ms: number };
}

/** What a database shows of itself before anything is written to it. */
type StoreState =
  | { readonly kind: "empty" }
  | { readonly kind: "foreign"; readonly table: string }
  /** `version` is null where another version of Payrun has noted it otherwise. */
  | { readonly kind: "ours"; readonly version: string | null };

/** A database as messages name it. */
export interface StorePlace {
  readonly location: string;
  /** How its owner makes room for a new store there, as an infinitive without “to”. */
  readonly makeRoom: string;
}

/**
 * Says whose database it is, from the names of its tables, and refuses what isn't ours to open or
 * what was made with another schema.
 *
 * @returns true where the store is there, false where the database is empty
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
 * Makes all tables in an empty database, within the caller's transaction.
 *
 * That it is empty must have been read in the same transaction: another process may have made them
 * while this one waited for the lock.
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
 * Tells one schema from every other: nobody has to remember to count up. Line breaks and
 * indentation don't matter to it.
 */
function versionOf(ddl: DdlDialect): string {
  const text = statementsOf(ddl).join(";\n").replaceAll(/\s+/g, " ");
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
