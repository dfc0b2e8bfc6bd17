import type { BusinessProfile } from "../config/business-profile.ts";
import type { PeriodReport } from "../api/period-report.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import { NO_MOVES, type StatementSum, StatementSums } from "../domain/statement/sums.ts";
import { cell, csvLine, decimalDollars } from "./csv.ts";
import type { Days } from "./statement/read-payments.ts";
import { type StatementContext, type StatementRow, statementRowsOfDays } from "./statement/rows.ts";

type PeriodContext = Pick<StatementContext, "store" | "clientOf">;

/**
 * Reports what a business's runs have moved within some days, by vendor, by account, and by account
 * and day: sums of the lines that `--bank-csv` lists for each of its runs.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function periodReport(
  context: PeriodContext,
  profile: BusinessProfile,
  days: Days,
): Promise<PeriodReport> {
  const vendors = new VendorSums();
  const byKind = new StatementSums<{ kind: StatementRow["kind"] }>();
  const byAccount = new StatementSums<{ account: string }>();
  const byDay = new StatementSums<{ account: string; date: string }>();
  const sources = new Map<string, string>();
  for await (const some of statementRowsOfDays(context, profile, days)) {
    for (const row of some) {
      const { account, date, kind, cents, source } = row;
      if (!sources.has(account)) sources.set(account, source);
      byKind.add({ kind }, cents);
      byAccount.add({ account }, cents);
      byDay.add({ account, date }, cents);
      if (kind === "payment") vendors.add(row);
    }
  }
  const sourceOf = (account: string) => sources.get(account) ?? "";
  const kinds = byKind.sorted();
  const ofKind = (kind: StatementRow["kind"]) =>
    withNet(kinds.find((sum) => sum.kind === kind) ?? NO_MOVES);
  return {
    business: profile.name,
    zone: profile.zone ?? NEW_YORK,
    from: days.from,
    to: days.to,
    payments: ofKind("payment"),
    deposits: ofKind("deposit"),
    vendors: vendors.sorted(),
    accounts: byAccount.sorted().map((sum) => {
      return { account: sum.account, source: sourceOf(sum.account), ...withNet(sum) };
    }),
    days: byDay.sorted().map((sum) => {
      const { account, date } = sum;
      return { account, source: sourceOf(account), date, ...withNet(sum) };
    }),
  };
}

function withNet({ debits, debitCents, credits, creditCents }: StatementSum) {
  return { debits, debitCents, credits, creditCents, netCents: creditCents - debitCents };
}

/** Sums per vendor. */
class VendorSums {
  readonly #sums = new StatementSums<{ contactId: string }>();
  readonly #about = new Map<string, { vendor: string; bills: Set<string>; settledCents: number }>();

  add({ contactId, vendor, payableId, cents, status }: StatementRow): void {
    this.#sums.add({ contactId }, cents);
    const about = this.#about.get(contactId) ?? { vendor, bills: new Set(), settledCents: 0 };
    about.bills.add(payableId);
    if (status === "completed") about.settledCents -= cents;
    this.#about.set(contactId, about);
  }

  sorted(): PeriodReport["vendors"] {
    return this.#sums
      .sorted()
      .map((sum) => {
        const { contactId } = sum;
        const about = this.#about.get(contactId);
        return {
          contactId,
          vendor: about?.vendor ?? "",
          bills: about?.bills.size ?? 0,
          ...withNet(sum),
          settledCents: about?.settledCents ?? 0,
        };
      })
      .toSorted((one, other) => one.netCents - other.netCents);
  }
}

const COLUMNS = [
  "date",
  "account",
  "source",
  "kind",
  "vendor_id",
  "vendor",
  "debits",
  "debit_usd",
  "credits",
  "credit_usd",
  "net_usd",
] as const;

/**
 * Returns the same as one table: a row per day, account and vendor; deposits have no vendor. RFC
 * 4180.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function periodCsv(
  context: PeriodContext,
  profile: BusinessProfile,
  days: Days,
): Promise<string> {
  const sums = new StatementSums<
    Record<"date" | "account" | "source" | "kind" | "contactId" | "vendor", string>
  >();
  for await (const some of statementRowsOfDays(context, profile, days)) {
    for (const { date, account, source, kind, contactId, vendor, cents } of some) {
      sums.add({ date, account, source, kind, contactId, vendor }, cents);
    }
  }
  const lines = sums
    .sorted()
    .map(({ date, account, source, kind, contactId, vendor, ...sum }) =>
      csvLine([
        date,
        ...[account, source, kind, contactId, vendor].map(cell),
        String(sum.debits),
        decimalDollars(sum.debitCents),
        String(sum.credits),
        decimalDollars(sum.creditCents),
        decimalDollars(sum.creditCents - sum.debitCents),
      ]),
    );
  return `${csvLine(COLUMNS)}${lines.join("")}`;
}
