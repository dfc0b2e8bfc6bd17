/** Counts and totals (in cents) of statement lines of one kind. */
export interface StatementSum {
  readonly debits: number;
  readonly debitCents: number;
  readonly credits: number;
  readonly creditCents: number;
}

export const NO_MOVES: StatementSum = { debits: 0, debitCents: 0, credits: 0, creditCents: 0 };

/**
 * Sums of statement lines for each key, such as an account and a day, sorted by the key's values.
 */
export class StatementSums<Key extends Readonly<Record<string, string>>> {
  readonly #sums = new Map<string, { readonly key: Key; readonly sum: StatementSum }>();

  /** @param cents negative if it left the account */
  add(key: Key, cents: number): void {
    const name = JSON.stringify(Object.values(key));
    const sum = this.#sums.get(name)?.sum ?? NO_MOVES;
    this.#sums.set(name, { key, sum: plus(sum, cents) });
  }

  sorted(): (Key & StatementSum)[] {
    return [...this.#sums.entries()]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { key, sum }]) => ({ ...key, ...sum }));
  }
}

function plus(sum: StatementSum, cents: number): StatementSum {
  return cents < 0
    ? { ...sum, debits: sum.debits + 1, debitCents: sum.debitCents - cents }
    : { ...sum, credits: sum.credits + 1, creditCents: sum.creditCents + cents };
}
