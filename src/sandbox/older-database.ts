import { DatabaseSync } from "node:sqlite";

interface Column {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
}

/**
 * Adds the columns that the tables of an older sandbox's database lack. Call it before the
 * statements that create tables, because their indexes may need those columns.
 *
 * @throws if a column can't be added because it needs a value and has no default.
 */
export function addMissingColumns(db: DatabaseSync, ddls: readonly string[]): void {
  const model = new DatabaseSync(":memory:");
  try {
    for (const ddl of ddls) model.exec(ddl);
    for (const table of tablesOf(model)) {
      const known = new Set(columnsOf(db, table).map(({ name }) => name));
      if (known.size === 0) continue;
      for (const column of columnsOf(model, table)) {
        if (!known.has(column.name)) add(db, table, column);
      }
    }
  } finally {
    model.close();
  }
}

function add(db: DatabaseSync, table: string, { name, type, notnull, dflt_value }: Column): void {
  if (notnull === 1 && dflt_value === null) {
    throw new Error(
      `an older sandbox made this data directory, and its ${table} have no ${name}; remove the directory to start over`,
    );
  }
  const fallback = dflt_value === null ? "" : ` DEFAULT ${dflt_value}`;
  db.exec(
    `ALTER TABLE "${table}" ADD COLUMN "${name}" ${type}${notnull === 1 ? " NOT NULL" : ""}${fallback}`,
  );
}

function tablesOf(db: DatabaseSync): string[] {
  const sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
  return db
    .prepare(sql)
    .all()
    .map((row) => String(row["name"]));
}

function columnsOf(db: DatabaseSync, table: string): Column[] {
  return db.prepare(`PRAGMA table_info("${table}")`).all() as unknown as Column[];
}
