import { type Kysely, sql, type Transaction } from "kysely";
import { StoreError } from "../errors.ts";
import type { DdlDialect } from "./ddl.ts";
import type { Tables } from "../tables.ts";
import { firstTables } from "./0001-first-tables.ts";
import { leases } from "./0002-leases.ts";
import { notices } from "./0003-notices.ts";
import { onboardings } from "./0004-onboardings.ts";
import { incidents } from "./0006-incidents.ts";
import { cancellations } from "./0007-cancellations.ts";
import { dryPlanLines } from "./0008-dry-plan-lines.ts";
import { approvalStages } from "./0009-approval-stages.ts";
import { eventStarts } from "./0010-event-starts.ts";
import { topUps } from "./0011-top-ups.ts";
import { auditEnds } from "./0012-audit-ends.ts";
import { shortReads } from "./0013-short-reads.ts";
import { followedPayments } from "./0014-followed-payments.ts";

interface Migration {
  readonly name: string;
  readonly statements: (ddl: DdlDialect) => string[];
}

/** In order; a migration that has been released never changes. Its version is its place, from 1. */
const MIGRATIONS: readonly Migration[] = [
  { name: "first tables", statements: firstTables },
  { name: "leases", statements: leases },
  { name: "notices", statements: notices },
  { name: "onboardings", statements: onboardings },
  { name: "incidents", statements: incidents },
  { name: "cancellations", statements: cancellations },
  { name: "dry plan lines", statements: dryPlanLines },
  { name: "approval stages", statements: approvalStages },
  { name: "event starts", statements: eventStarts },
  { name: "top-ups", statements: topUps },
  { name: "audit ends", statements: auditEnds },
  { name: "short reads", statements: shortReads },
  { name: "followed payments", statements: followedPayments },
];

/** Row 0 of the table of migrations names the application, so that a database shows whose it is. */
const MARKER = "payrun";

const LATEST = MIGRATIONS.length;

interface MigrationTables extends Tables {
  payrun_migrations: { version: number; name: string; applied_at_ms: number };
}

/** What a database shows of itself before anything is written to it. */
export type StoreState =
  | { readonly kind: "empty" }
  | { readonly kind: "foreign"; readonly table: string }
  | { readonly kind: "ours"; readonly version: number };

/** Says whose database it is, from the names of its tables. */
export async function inspectStore(
  db: Kysely<Tables> | Transaction<Tables>,
  tableNames: readonly string[],
): Promise<StoreState> {
  const [first] = tableNames;
  if (first === undefined) return { kind: "empty" };
  if (!tableNames.includes("payrun_migrations")) return { kind: "foreign", table: first };
  const rows = await db
    .withTables<Pick<MigrationTables, "payrun_migrations">>()
    .selectFrom("payrun_migrations")
    .select(["version", "name"])
    .execute();
  if (!rows.some((row) => row.version === 0 && row.name === MARKER)) {
    return { kind: "foreign", table: "payrun_migrations" };
  }
  return { kind: "ours", version: Math.max(...rows.map((row) => row.version)) };
}

/**
 * Refuses what isn't ours to open.
 *
 * @throws {StoreError} `foreign`, `newer`.
 */
export function checkStoreState(state: StoreState, location: string): void {
  if (state.kind === "foreign") {
    throw new StoreError(
      "foreign",
      `${location} is a database of something else (it has a table "${state.table}" and no mark ` +
        "of Payrun). It was left alone; set PAYRUN_DATABASE_URL to another one.",
    );
  }
  if (state.kind === "ours" && state.version > LATEST) {
    throw new StoreError(
      "newer",
      `${location} was written by a newer Payrun (store version ${state.version}, this one knows ` +
        `${LATEST}). Update Payrun, or set PAYRUN_DATABASE_URL to another one.`,
    );
  }
}

export function isCurrent(state: StoreState): boolean {
  return state.kind === "ours" && state.version === LATEST;
}

/**
 * Brings the schema up to date, within the caller's transaction.
 *
 * The state must have been read in the same transaction: another process may have migrated
 * while this one waited for the lock.
 */
export async function migrate(
  trx: Transaction<Tables>,
  state: StoreState,
  ddl: DdlDialect,
  nowMs: number,
): Promise<void> {
  const done = trx.withTables<Pick<MigrationTables, "payrun_migrations">>();
  if (state.kind === "empty") {
    for (const statement of ddl.ownTables) await sql.raw(statement).execute(trx);
    await sql`create table payrun_migrations (
      version bigint primary key not null,
      name text not null,
      applied_at_ms bigint not null
    )`.execute(trx);
    await done
      .insertInto("payrun_migrations")
      .values({ version: 0, name: MARKER, applied_at_ms: nowMs })
      .execute();
  }
  const from = state.kind === "ours" ? state.version : 0;
  for (const [index, migration] of MIGRATIONS.entries()) {
    const version = index + 1;
    if (version <= from) continue;
    for (const statement of migration.statements(ddl)) {
      await sql.raw(ddl.adapt(statement)).execute(trx);
    }
    await done
      .insertInto("payrun_migrations")
      .values({ version, name: migration.name, applied_at_ms: nowMs })
      .execute();
  }
}
