import { DatabaseSync, type StatementSync } from "node:sqlite";

/**
 * What the rules read of the engine's store, over a connection of their own. The only file that
 * knows its tables.
 */
export class StoreFacts {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { readOnly: true });
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  /** Lines of all plans that an approval counts for: by payable, what each run may pay of it. */
  approvedCents(payableId: string): number {
    const rows = this.#all(
      `select l.run_id, max(l.amount_cents) as cents from plan_lines l
        join line_approvals a on a.run_id = l.run_id and a.payable_id = l.payable_id
         and a.line_hash = l.line_hash
        where l.payable_id = ? group by l.run_id`,
      payableId,
    );
    return rows.reduce((sum, row) => sum + Number(row["cents"]), 0);
  }

  /** Lines with where they stand. */
  lines(): { runId: string; payableId: string; state: string; reason: string | null }[] {
    return this.#all("select run_id, payable_id, state, reason from run_lines").map((row) => ({
      runId: String(row["run_id"]),
      payableId: String(row["payable_id"]),
      state: String(row["state"]),
      reason: textOf(row["reason"]),
    }));
  }

  runs(): { runId: string; phase: string }[] {
    return this.#all("select run_id, phase from runs").map((row) => ({
      runId: String(row["run_id"]),
      phase: String(row["phase"]),
    }));
  }

  /** Attempts in words, for a trace. */
  attempts(payableId: string): string[] {
    return this.#all(
      "select seq, state, sends from attempts where subject = ? order by seq",
      payableId,
    ).map((row) => `seq ${String(row["seq"])}: ${String(row["state"])} ${String(row["sends"])}`);
  }

  #all(text: string, ...given: readonly string[]): Record<string, unknown>[] {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, statement);
    return statement.all(...given);
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
