import { StatementSums } from "../domain/statement/sums.ts";
import type { Run } from "../store/runs/runs.ts";
import { cell, csvLine, decimalDollars } from "./csv.ts";
import { type StatementContext, type StatementRow, statementRows } from "./statement/rows.ts";

/** Rows sent at once. */
const ROWS_AT_ONCE = 1_000;

const COLUMNS: readonly (readonly [string, (row: StatementRow) => string])[] = [
  ["date", ({ date }) => date],
  ["entry", ({ entry }) => entry],
  ["debit_usd", ({ cents }) => (cents < 0 ? decimalDollars(-cents) : "")],
  ["credit_usd", ({ cents }) => (cents < 0 ? "" : decimalDollars(cents))],
  ["payment_ids", ({ kind, reference }) => (kind === "payment" ? cell(reference) : "")],
  ["payable_ids", ({ payableId }) => cell(payableId)],
  ["bills", ({ bill }) => cell(bill)],
  ["vendor", ({ vendor }) => cell(vendor)],
  ["description", ({ description }) => cell(description)],
  ["bank_account_id", ({ bankAccountId }) => cell(bankAccountId)],
  ["source", ({ source }) => cell(source)],
  ["status", ({ status }) => cell(status)],
  ["settled_on", ({ settledOn }) => settledOn],
  ["note", ({ note }) => cell(note)],
  ["account", ({ account }) => cell(account)],
  ["amount_usd", ({ cents }) => decimalDollars(cents)],
  ["kind", ({ kind }) => kind],
  ["reference", ({ reference }) => cell(reference)],
  ["state", ({ state }) => state],
];

/**
 * Lists a run as the statements of its accounts show it: one row per debit, one for money that came
 * back, and two per deposit into the balance, one for each account. Sorted by date, RFC 4180.
 *
 * The service pays each payment by a debit of its own (a large bill by several), so a row has one
 * payment and one bill; a payment that never reached the bank has no row.
 *
 * @returns the table, some rows at a time
 * @throws GatewayError 503 if the service can't be read
 */
export async function bankCsv(context: StatementContext, run: Run): Promise<AsyncIterable<string>> {
  const rows: { readonly sort: string; readonly text: string }[] = [];
  for await (const some of statementRows(context, run)) {
    for (const row of some) {
      const { date, reference, entry } = row;
      const text = csvLine(COLUMNS.map(([, read]) => read(row)));
      rows.push({ sort: `${date} ${reference} ${entry === "debit" ? 0 : 1}`, text });
    }
  }
  rows.sort((one, other) => (one.sort < other.sort ? -1 : one.sort > other.sort ? 1 : 0));
  return inParts(rows.map(({ text }) => text));
}

const DAY_COLUMNS = [
  "account",
  "source",
  "date",
  "debits",
  "debit_usd",
  "credits",
  "credit_usd",
  "net_usd",
] as const;

/**
 * Sums the same rows per account and day, for a bookkeeper to compare with a statement.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function bankDaysCsv(context: StatementContext, run: Run): Promise<string> {
  const days = new StatementSums<{ account: string; date: string }>();
  const names = new Map<string, string>();
  for await (const some of statementRows(context, run)) {
    for (const { account, date, cents, source } of some) {
      days.add({ account, date }, cents);
      if (!names.has(account)) names.set(account, source);
    }
  }
  const lines = days
    .sorted()
    .map(({ account, date, debits, debitCents, credits, creditCents }) =>
      csvLine([
        cell(account),
        cell(names.get(account) ?? ""),
        date,
        String(debits),
        decimalDollars(debitCents),
        String(credits),
        decimalDollars(creditCents),
        decimalDollars(creditCents - debitCents),
      ]),
    );
  return `${csvLine(DAY_COLUMNS)}${lines.join("")}`;
}

async function* inParts(rows: readonly string[]): AsyncGenerator<string> {
  yield csvLine(COLUMNS.map(([name]) => name));
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    yield rows.slice(start, start + ROWS_AT_ONCE).join("");
  }
}
