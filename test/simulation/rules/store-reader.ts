import { DatabaseSync, type StatementSync } from "node:sqlite";

/** The rules' own connection to the engine's store. */
export class StoreReader {
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync;

  constructor(path: string) {
    this.#path = path;
    this.#db = new DatabaseSync(path, { readOnly: true });
  }

  /** Opens the connection again after the file was replaced. */
  open(): void {
    this.#db = new DatabaseSync(this.#path, { readOnly: true });
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  protected all(text: string, ...given: readonly (string | number)[]): Record<string, unknown>[] {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, statement);
    return statement.all(...given);
  }
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
