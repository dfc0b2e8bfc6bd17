import { DatabaseSync, type StatementSync } from "node:sqlite";

const ENDED: readonly string[] = [
  "completed",
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
];

interface LineFact {
  readonly runId: string;
  readonly payableId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly amountCents: number;
}

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
  lines(): LineFact[] {
    const text = "select run_id, payable_id, state, reason, amount_cents from run_lines";
    return this.#all(text).map((row) => ({
      amountCents: Number(row["amount_cents"]),
      runId: String(row["run_id"]),
      payableId: String(row["payable_id"]),
      state: String(row["state"]),
      reason: textOf(row["reason"]),
    }));
  }

  /** States of a bill's lines, in all runs. */
  states(payableId: string): string[] {
    return this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ state }) => state);
  }

  endedRuns(): Set<string> {
    const ended = this.runs().filter(({ phase }) => ENDED.includes(phase));
    return new Set(ended.map(({ runId }) => runId));
  }

  hasEvent(eventId: string): boolean {
    return this.#all("select 1 from inbox where event_id = ?", eventId).length > 0;
  }

  runs(): { runId: string; phase: string }[] {
    return this.#all("select run_id, phase from runs").map((row) => ({
      runId: String(row["run_id"]),
      phase: String(row["phase"]),
    }));
  }

  /** Where everything stands, for a trace. */
  summary(): string[] {
    const runs = this.runs().map(({ runId, phase }) => `${runId}: ${phase}`);
    const lines = this.lines().map(
      ({ runId, payableId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`,
    );
    return [...runs, ...lines];
  }

  /** A bill's lines and attempts in words, for a trace. */
  of(payableId: string): string[] {
    const lines = this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ runId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`);
    const attempts = this.#all(
      "select seq, state, owner, sends, answer from attempts where subject = ? order by seq",
      payableId,
    ).map((row) => `${payableId}, attempt ${JSON.stringify(row)}`);
    return [...lines, ...attempts];
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
