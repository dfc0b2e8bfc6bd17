import { DatabaseSync, type StatementSync } from "node:sqlite";

/** One row that must stay. */
interface KeptRow {
  readonly table: string;
  readonly id: string;
  /** The columns that never change, as text. */
  readonly fixed: string;
  /** The columns that are written once, as text; null until then. */
  readonly once: string | null;
}

/**
 * Tables to which rows are only added, with each one's key and the columns that are written later.
 */
const TABLES = [
  { table: "attempts", id: "attempt_id", once: [], open: "0" },
  {
    table: "sends",
    id: "send_id",
    once: ["result", "status", "code", "message", "answered_at_ms", "answer_date_ms", "made_ids"],
    open: "result = 'pending'",
  },
  { table: "late_answers", id: "late_answer_id", once: [], open: "0" },
  { table: "lookups", id: "lookup_id", once: [], open: "0" },
  { table: "adoptions", id: "found_id || ' ' || attempt_id", once: [], open: "0" },
  { table: "decisions", id: "decision_id", once: [], open: "0" },
] as const;

/** Reads all rows that must stay, over its own connection. */
export class StoreRows {
  readonly #path: string;
  #db: DatabaseSync;
  #statements: readonly { readonly table: string; readonly statement: StatementSync }[] = [];
  #version: unknown;

  constructor(path: string) {
    this.#path = path;
    this.#db = new DatabaseSync(path, { readOnly: true });
  }

  /** Opens the connection again after the file was replaced. */
  open(): void {
    this.#db = new DatabaseSync(this.#path, { readOnly: true });
  }

  close(): void {
    this.#statements = [];
    this.#version = undefined;
    this.#db.close();
  }

  /** @returns undefined if nothing was written since the last call */
  all(): KeptRow[] | undefined {
    const version = this.#db.prepare("pragma data_version").get()?.["data_version"];
    if (version === this.#version) return undefined;
    this.#version = version;
    if (this.#statements.length === 0) this.#statements = TABLES.map((each) => this.#prepare(each));
    return this.#statements.flatMap(({ table, statement }) =>
      statement.all().map((row) => ({
        table,
        id: String(row["id"]),
        fixed: String(row["fixed"]),
        once: typeof row["once"] === "string" ? row["once"] : null,
      })),
    );
  }

  #prepare({ table, id, once, open }: (typeof TABLES)[number]) {
    const later: readonly string[] = once;
    const columns = this.#db
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map((row) => String(row["name"]));
    const fixed = columns.filter((name) => !later.includes(name));
    const text = `select ${id} as id, json_array(${fixed.join(", ")}) as fixed,
      case when ${open} then null else json_array(${later.join(", ")}) end as once from ${table}`;
    return { table, statement: this.#db.prepare(text) };
  }
}
