import type { Command } from "@commander-js/extra-typings";

import { spokenTime } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import { usageError } from "../terminal/cli-error.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import { writeParts } from "../terminal/output.ts";
import type { Session } from "../client/session.ts";
import { nameOf } from "../show/plan.ts";
import { topUpLines } from "../show/deposit.ts";
import { phaseText } from "../show/run.ts";
import { bold, count, dim, printable, table, yellow } from "../terminal/text.ts";
import { type Report, ReportBody } from "../../api/report.ts";

export function addReportCommand(program: Command, session: Session): void {
  program
    .command("report")
    .description("sum a run up: every bill in one state, exceptions with their reason")
    .argument("<id>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--csv", "a table for spreadsheets, one row per bill")
    .option("--bank-csv", "a table that ties to bank statements, one row per line on them")
    .option("--bank-days", "its sums per account and day")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const formats = [
          ...(options.csv === true ? ["--csv"] : []),
          ...(options.bankCsv === true ? ["--bank-csv"] : []),
          ...(options.bankDays === true ? ["--bank-days"] : []),
          ...(options.json === true ? ["--json"] : []),
        ];
        if (formats.length > 1) throw usageError(`${formats.join(" and ")} can't go together`);
        const gateway = gatewayOf(config());
        const path = `/v1/runs/${encodeURIComponent(await findRunId(gateway, id))}/report`;
        const [format] = formats;
        if (format !== undefined && format !== "--json") {
          await writeParts(gateway.text(`${path}?format=${format.slice(2)}`));
          return;
        }
        const report = await gateway.get(path, ReportBody);
        output.lines(reportLines(report));
        output.document(report);
      }),
    );
}

/** Who counted and who didn't, and why. */
function decisionLines({ decisions, zone }: Report): string[] {
  const { singlePerson, counted, refused } = decisions;
  const mode = "Approvals: single-person. One person may launch and approve here.";
  return [
    ...(singlePerson ? [yellow(mode)] : []),
    ...counted.map(({ by, roles, decision, at, alone }) => {
      const note = alone ? ", as the one person who launches and approves here" : "";
      const did = decision === "reject" ? "rejected" : "approved";
      return `${did} by ${printable(by)} (${roles.join(", ")}), ${spokenTime(at, zone)}${note}`;
    }),
    ...refused.map(({ by, at, code, reason }) =>
      dim(
        `did not count: ${printable(by)}, ${spokenTime(at, zone)}: ${printable(reason === "" ? code : reason)}`,
      ),
    ),
  ];
}

function reportLines(report: Report): string[] {
  const states = Object.entries(report.byState).map(([state, { count: bills, cents }]) => [
    state,
    String(bills),
    formatUsd(cents),
  ]);
  const exceptions = report.exceptions.map((line) => [
    nameOf(line),
    formatUsd(line.amountCents),
    line.state,
    printable(line.reason ?? ""),
  ]);
  return [
    `${bold(report.id)}  ${phaseText(report.phase)}`,
    `${count(report.bills, "bill")}, ${formatUsd(report.totalCents)}; settled: ${report.settledBills}, ${formatUsd(report.settledCents)}`,
    ...topUpLines(report.topUps),
    ...decisionLines(report),
    "",
    ...table(
      [{ title: "State" }, { title: "Bills", align: "right" }, { title: "Amount", align: "right" }],
      states,
    ),
    ...(exceptions.length === 0 ? [] : ["", bold("Exceptions")]),
    ...table([{}, { align: "right" }, {}, {}], exceptions),
  ];
}
