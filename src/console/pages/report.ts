import { html } from "../html.ts";
import { type Report, ReportBody } from "../../api/report.ts";
import { type ListedRun, RunListBody } from "../../api/runs.ts";
import { billPage, reportPage, runPage } from "../../contracts/console-pages.ts";
import { billsOf, counted } from "../../domain/counted.ts";
import { facts, note, section, pageTable } from "../elements.ts";
import type { PageOf } from "../page.ts";
import { progressPicture } from "../pictures/progress.ts";
import { decisions } from "./decisions.ts";
import {
  amountInState,
  badge,
  billStateOf,
  type Markup,
  phaseShown,
  unbroken,
  usd,
  when,
} from "../words.ts";

/** Shows a run's result: sums by state, exceptions, and the tables for bookkeeping. */
export const showReport: PageOf = async ({ api, params }) => {
  const id = params["id"] ?? "";
  const found = await api.get(ReportBody, "/v1/runs/{id}/report", { params: { id } });
  const { playbook, period, phase, bills, totalCents, settledBills, settledCents, byState } = found;
  return {
    title: `Report: ${playbook} ${period}`,
    lead: badge(phaseShown(phase, found.planOnly)),
    main: html`${found.outcome === undefined ? "" : note("warn", html`<p>In all, ${found.outcome}.</p>`)}
      ${section(
        "Sums",
        html`${facts([
          [
            "Settled",
            html`${usd(settledCents)}<span class="sub"
                >${billsOf(byState.settled ?? { count: settledBills, cents: 0 })}</span
              >`,
          ],
          ["Planned", html`${usd(totalCents)}<span class="sub">${counted(bills, "bill")}</span>`],
          ["Left out by the plan", counted(found.skipped.count, "bill")],
          ["Exceptions", counted(found.exceptionCount, "bill")],
          ...(found.waitingFor === null
            ? []
            : ([["Waits for", found.waitingFor, "long"]] as const)),
        ])}${progressPicture(found)}`,
      )}
      ${section("Exceptions", exceptions(found))} ${section("Decisions", decisions(found))}
      <div class="on-screen">
        ${section(
          "As tables",
          html`<p>For spreadsheets, and to hold against the bank’s statement.</p>
            <ul>
              ${TABLES.map(([format, name, what]) => html`<li><a href="${reportPage(id)}/${format}.csv" download>${name}</a>: <span class="quiet">${what}</span></li>`)}
            </ul>
            <p class="quiet">
              A month over all runs:
              <code>payrun report --from 2026-11-01 --to 2026-11-30 --csv</code>
            </p>`,
        )}
        <p><a href="${runPage(id)}">The run</a></p>
      </div>`,
  };
};

const TABLES = [
  ["csv", "All bills", "one row for each bill, with its state"],
  ["bank-csv", "Bank lines", "one row for each line on the statements of its accounts"],
  ["bank-days", "Sums by day", "debits and credits for each account and day"],
] as const;

export const TABLE_FORMATS: readonly string[] = TABLES.map(([format]) => format);

type Exception = Report["exceptions"][number];

function exceptions({ exceptions: odd, exceptionCount, business }: Report): Markup {
  if (exceptionCount === 0) return html`<p class="quiet">None.</p>`;
  const shown = odd.slice(0, 200);
  return html`${pageTable(
    "Bills with a reason to look at",
    [
      {
        title: "Bill",
        isHead: true,
        cell: ({ payableId, publicId, contactName }: Exception) =>
          html`<a href="${billPage(payableId, business)}">${contactName ?? payableId}</a
            ><span class="under">${publicId ?? payableId}</span>`,
      },
      { title: "State", cell: (bill) => badge(billStateOf(bill)) },
      { title: "Why", isText: true, cell: ({ reason }) => reason ?? "–" },
      { title: "Amount", isNumber: true, cell: amountInState },
    ],
    shown,
  )}${exceptionCount > shown.length ? html`<p class="quiet">And ${exceptionCount - shown.length} more, in the table of all bills.</p>` : ""}`;
}

/** Lists the latest pay runs, to choose one. */
export const reports: PageOf = async ({ api, visitor: { zoneOf } }) => {
  const query = { kind: "pay-run", pageSize: "200" };
  const { items: runs } = await api.get(RunListBody, "/v1/runs", { query });
  return {
    title: "Reports",
    lead: "What each run came to.",
    main: section(
      "Runs",
      runs.length === 0
        ? html`<p class="quiet">No run yet.</p>`
        : pageTable(
            "Newest first",
            [
              {
                title: "Run",
                isHead: true,
                cell: ({ id, playbook, period }: ListedRun) =>
                  html`<a href="${reportPage(id)}">${unbroken(`${playbook} ${period}`)}</a>`,
              },
              { title: "State", cell: ({ phase, planOnly }) => badge(phaseShown(phase, planOnly)) },
              {
                title: "Launched",
                cell: ({ launchedAt, business }) => when(launchedAt, zoneOf(business)),
              },
              {
                title: "Ended",
                cell: ({ endedAt, business }) =>
                  endedAt === null ? "–" : when(endedAt, zoneOf(business)),
              },
              { title: "Sum", isNumber: true, cell: ({ totalCents }) => usd(totalCents) },
            ],
            runs,
          ),
    ),
  };
};
