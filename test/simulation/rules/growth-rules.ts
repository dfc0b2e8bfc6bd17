import type { StoreRows } from "./store-rows.ts";
import { Violation } from "./violation.ts";

interface Seen {
  readonly fixed: string;
  once: string | null;
}

/**
 * Rule 1: recorded sends, reads, finds, answers and decisions never change; only the result of a
 * send is written later, and once.
 */
export class GrowthRules {
  readonly #rows: StoreRows;
  readonly #seen = new Map<string, Seen>();

  constructor(rows: StoreRows) {
    this.#rows = rows;
  }

  /** The store was replaced: a backup may have lost everything, a power cut only results. */
  storeReplaced(isBackup: boolean): void {
    if (isBackup) this.#seen.clear();
    for (const seen of this.#seen.values()) seen.once = null;
  }

  /** @throws Violation */
  check(): void {
    const rows = this.#rows.all();
    if (rows === undefined) return;
    const there = new Set<string>();
    for (const { table, id, fixed, once } of rows) {
      const name = `${table} ${id}`;
      there.add(name);
      const seen = this.#seen.get(name);
      if (seen === undefined) {
        this.#seen.set(name, { fixed, once });
        continue;
      }
      if (seen.fixed !== fixed) changed(table, seen.fixed, fixed);
      if (seen.once !== null && seen.once !== once) changed(table, seen.once, once ?? "nothing");
      seen.once = once;
    }
    if (there.size === this.#seen.size) return;
    for (const [name, { fixed }] of this.#seen) {
      if (there.has(name)) continue;
      throw new Violation("rows-only-grow", `${name} was ${fixed}, and is gone`);
    }
  }
}

function changed(table: string, before: string, after: string): never {
  throw new Violation("rows-only-grow", `a row of ${table} was ${before}, and is ${after}`);
}
