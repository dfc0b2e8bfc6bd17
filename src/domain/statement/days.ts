import type { StatementLine } from "./lines.ts";

/** What one account's statement shows of a run on one day, in cents. */
export interface StatementDay {
  readonly account: string;
  readonly date: string;
  readonly debits: number;
  readonly debitCents: number;
  readonly credits: number;
  readonly creditCents: number;
}

/** Sums for each account and day, sorted by both. */
export class StatementDays {
  readonly #days = new Map<string, StatementDay>();

  add({ account, date, cents }: StatementLine): void {
    const key = JSON.stringify([account, date]);
    const day = this.#days.get(key) ?? {
      account,
      date,
      debits: 0,
      debitCents: 0,
      credits: 0,
      creditCents: 0,
    };
    this.#days.set(
      key,
      cents < 0
        ? { ...day, debits: day.debits + 1, debitCents: day.debitCents - cents }
        : { ...day, credits: day.credits + 1, creditCents: day.creditCents + cents },
    );
  }

  sorted(): StatementDay[] {
    return [...this.#days.entries()]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, day]) => day);
  }
}
