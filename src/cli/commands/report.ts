import type { Command } from "@commander-js/extra-typings";

import { isDate } from "../../domain/clock/dates.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { shownBillState, shownSums } from "../../domain/runs/given-back.ts";
import { counted, countOf } from "../../domain/counted.ts";
import { forExcel } from "../../domain/for-excel.ts";
import { formatUsd } from "../../domain/money.ts";
import { shownAmount } from "../../domain/payments/line-parts.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type GatewayClient, gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import { writeParts } from "../terminal/output.ts";
import type { CliSession } from "../client/session.ts";
import { nameOf } from "../show/plan.ts";
import { topUpLines } from "../show/deposit.ts";
import { outcomeLines, phaseText, planOnlyLines, waitsForLines } from "../show/run.ts";
import { bold, type TextColumn, dim, printable, textTable, yellow } from "../terminal/text.ts";
import { type PeriodReport, PeriodReportBody } from "../../api/period-report.ts";
import { type Report, ReportBody } from "../../api/report.ts";

export function addReportCommand(program: Command, session: CliSession): void {
  program
    .command("report")
    .description("sum up a run, or with --from and --to all runs of some days")
    .argument("[run]", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--from <date>", "first day: sums by vendor, account and day instead of one run's")
    .option("--to <date>", "last day")
    .option("--business <name>", "needed only if several businesses are configured")
    .option("--csv", "a table for spreadsheets, one row per bill; for days, one per day and vendor")
    .option("--bank-csv", "a run's table that ties to bank statements, one row per line on them")
    .option("--bank-days", "its sums per account and day")
    .option("--excel", "the table so that it opens right in Excel; --csv unless you say another")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const format = formatOf(options);
        const gateway = gatewayOf(config());
        const path = id === undefined ? daysPath(options) : await runPath(gateway, id, options);
        if (format !== undefined) {
          const table = gateway.text(`${path}${path.includes("?") ? "&" : "?"}format=${format}`);
          await writeParts(options.excel === true ? forExcel(table) : table);
          return;
        }
        if (id === undefined) {
          const report = await gateway.get(path, PeriodReportBody);
          output.lines(periodLines(report));
          output.document(report);
          return;
        }
        const report = await gateway.get(path, ReportBody);
        output.lines(reportLines(report));
        output.document(report);
      }),
    );
}

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly business?: string;
  readonly csv?: true;
  readonly bankCsv?: true;
  readonly bankDays?: true;
  readonly excel?: true;
  readonly json?: true;
}

/** Returns the requested table; undefined for the sums themselves. */
function formatOf(options: Options): string | undefined {
  const formats = [
    ...(options.csv === true ? ["--csv"] : []),
    ...(options.bankCsv === true ? ["--bank-csv"] : []),
    ...(options.bankDays === true ? ["--bank-days"] : []),
    ...(options.json === true ? ["--json"] : []),
  ];
  if (formats.length > 1) throw usageError(`${formats.join(" and ")} can't go together`);
  const [format = options.excel === true ? "--csv" : undefined] = formats;
  if (options.excel === true && format === "--json") {
    throw usageError("--excel and --json can't go together");
  }
  return format === undefined || format === "--json" ? undefined : format.slice(2);
}

async function runPath(gateway: GatewayClient, id: string, options: Options): Promise<string> {
  const { from, to, business } = options;
  const other = Object.entries({ from, to, business }).find(([, value]) => value !== undefined);
  if (other !== undefined) {
    throw usageError(
      `report of a run takes no --${other[0]}`,
      "leave out the run for a report of days: payrun report --from 2026-11-01 --to 2026-11-30",
    );
  }
  return `/v1/runs/${encodeURIComponent(await findRunId(gateway, id))}/report`;
}

function daysPath(options: Options): string {
  const { from, to, business, bankCsv, bankDays } = options;
  if (from === undefined || to === undefined) {
    throw usageError(
      "report needs a run, or --from and --to",
      "payrun report rent, or payrun report --from 2026-11-01 --to 2026-11-30",
    );
  }
  for (const [flag, day] of Object.entries({ from, to })) {
    if (!isDate(day)) throw usageError(`--${flag} must be a date, YYYY-MM-DD, not “${day}”`);
  }
  if (bankCsv === true || bankDays === true) {
    throw usageError(
      `--bank-${bankCsv === true ? "csv" : "days"} is a table of one run`,
      "name the run, or use --csv for a table of days",
    );
  }
  return ofBusiness(`/v1/reports?${new URLSearchParams({ from, to }).toString()}`, business);
}

/** Returns a table below an empty line; nothing if it has no rows. */
function below(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ["", ...textTable(columns, rows)];
}

/** Lists the period by vendor, by account, and by account and day. */
function periodLines(report: PeriodReport): string[] {
  const { payments, deposits } = report;
  const money: readonly TextColumn[] = ["Out", "Back or in", "Net"].map((title) => {
    return { title, align: "right" };
  });
  const sums = ({ debitCents, creditCents, netCents }: PeriodReport["payments"]) =>
    [debitCents, creditCents, netCents].map(formatUsd);
  const nameOfAccount = ({ account, source }: PeriodReport["accounts"][number]) =>
    source === "" ? account : printable(source);
  return [
    `${bold(report.business)}  ${report.from} to ${report.to}`,
    `${counted(payments.debits, "payment")}, ${formatUsd(payments.debitCents)}; came back: ${formatUsd(payments.creditCents)}; ${bold(`net ${formatUsd(-payments.netCents)}`)}`,
    ...(deposits.debits + deposits.credits === 0
      ? []
      : [
          `deposits into the balance: ${formatUsd(deposits.debitCents)} out, ${formatUsd(deposits.creditCents)} in or back`,
        ]),
    ...below(
      [{ title: "Vendor" }, { title: "Bills", align: "right" }, ...money],
      report.vendors.map((vendor) => [
        printable(vendor.vendor === "" ? vendor.contactId : vendor.vendor),
        String(vendor.bills),
        ...sums(vendor),
      ]),
    ),
    ...below(
      [{ title: "Account" }, ...money],
      report.accounts.map((account) => [nameOfAccount(account), ...sums(account)]),
    ),
    ...below(
      [{ title: "Day" }, { title: "Account" }, ...money],
      report.days
        .toSorted((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : 0))
        .map((day) => [day.date, nameOfAccount(day), ...sums(day)]),
    ),
  ];
}

/** Lists whose decision counted, whose didn't, and why. */
function decisionLines({ decisions, zone }: Report): string[] {
  const { singlePerson, counted, confirmed, refused } = decisions;
  const mode = "Approvals: single-person. One person may launch and approve here.";
  return [
    ...(singlePerson ? [yellow(mode)] : []),
    ...counted.flatMap(({ by, roles, decision, at, alone, hurry, comment, ...said }) => {
      const note = `${alone ? ", as the one person who launches and approves here" : ""}${hurry === null ? "" : `, hurried: ${hurry}`}`;
      const did = decision === "reject" ? "rejected" : "approved";
      const why = comment === null ? "" : `: ${printable(comment)}`;
      return [
        `${did} by ${printable(by)} (${roles.join(", ")}), ${spokenTime(at, zone)}${note}${why}`,
        ...said.verifiedBankChanges.map(
          ({ contactId, contactName, person, phone }) =>
            `  new bank account of ${printable(contactName ?? contactId)} verified with ${printable(person)}, called on ${printable(phone)}`,
        ),
      ];
    }),
    ...confirmed.map(
      ({ by, roles, at, records, comment, hurry }) =>
        `accounts still right, says ${printable(by)} (${roles.join(", ")}), ${spokenTime(at, zone)}${hurry === null ? "" : `, hurried: ${hurry}`}: ${printable(vendorsOf(records).join(", "))}${comment === null ? "" : `: ${printable(comment)}`}`,
    ),
    ...refused.map(({ by, at, code, reason }) =>
      dim(
        `did not count: ${printable(by)}, ${spokenTime(at, zone)}: ${printable(reason === "" ? code : reason)}`,
      ),
    ),
  ];
}

/** The most vendors that a line names; further ones are counted. */
const VENDORS_NAMED = 10;

function vendorsOf(
  records: readonly { readonly contactId: string; readonly contactName: string | null }[],
): string[] {
  const named = [...new Set(records.map(({ contactId, contactName }) => contactName ?? contactId))];
  const more = named.length - VENDORS_NAMED;
  return [...named.slice(0, VENDORS_NAMED), ...(more > 0 ? [`${more} more`] : [])];
}

/** Counts settled bills, including those of which only parts have settled. */
function settledText({ byState, settledBills }: Report): string {
  return byState.settled === undefined ? String(settledBills) : countOf(byState.settled);
}

function reportLines(report: Report): string[] {
  const states = Object.entries(shownSums(report)).map(([state, sum]) => [
    state,
    countOf(sum),
    formatUsd(sum.cents),
  ]);
  const exceptions = report.exceptions.map((line) => [
    nameOf(line),
    shownAmount(line),
    shownBillState(line),
    printable(line.reason ?? ""),
  ]);
  return [
    `${bold(report.id)}  ${phaseText(report.phase)}`,
    ...outcomeLines(report),
    ...waitsForLines(report.waitingFor),
    `${counted(report.bills, "bill")}, ${formatUsd(report.totalCents)}; settled: ${settledText(report)}, ${formatUsd(report.settledCents)}`,
    ...planOnlyLines(report, { count: report.bills, cents: report.totalCents }),
    ...topUpLines(report.topUps),
    ...decisionLines(report),
    "",
    ...textTable(
      [{ title: "State" }, { title: "Bills", align: "right" }, { title: "Amount", align: "right" }],
      states,
    ),
    ...(exceptions.length === 0 ? [] : ["", bold("Exceptions")]),
    ...textTable([{}, { align: "right" }, {}, {}], exceptions),
  ];
}
