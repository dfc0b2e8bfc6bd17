import { definedOnly } from "../contracts/defined-only.ts";
import type { ReportBody } from "../api/report.ts";
import type { RunPaymentStatus, RunStatus, StateSums } from "../api/runs.ts";
import type { Shown } from "../api/shown.ts";
import { onlyPlans } from "../domain/plan-only.ts";
import { centsIn, sumsOfLines } from "../domain/payments/line-parts.ts";
import { isException } from "../domain/runs/exceptions.ts";
import { vendorsConfirmedFor } from "../store/lines/asked-records.ts";
import { oddLines } from "../store/lines/odd-lines.ts";
import type { Run } from "../store/runs/runs.ts";
import type { ActionContext } from "../actions/context.ts";
import { zoneOf } from "./moment.ts";
import { cell, decimalDollars } from "./csv.ts";
import { confirmedOf, countedOf, refusedOf } from "./history/deciders.ts";
import { paymentStatus } from "./status/payment.ts";
import { markStanding } from "./status/given-back.ts";
import { shownBillState } from "../domain/runs/given-back.ts";
import { linesOf, runHead, sumOf, topUpStatuses } from "./status/run.ts";

type ReportContext = Pick<ActionContext, "store" | "profiles" | "clocks">;

export type RunReport = Shown<typeof ReportBody>;

/** Most exceptions that one report lists; further ones are counted, and are in the table. */
const EXCEPTIONS_MOST = 1_000;

/** Lines read for a report at once. */
const LINES_AT_ONCE = 1_000;

/** Sums up a run: the bills by state, what has settled, and each exception with its reason. */
export async function reportOf(context: ReportContext, run: Run): Promise<RunReport> {
  const { phase, outcome, waitingFor, byState, givenBack, plan } = await runHead(context, run);
  const odd = await oddLines(context.store.db, run.runId, EXCEPTIONS_MOST);
  const shown = odd.lines.map((line) => paymentStatus(line, []));
  const exceptions = await markStanding(context.store.db, run, shown);
  return {
    id: run.runId,
    business: run.business,
    playbook: run.playbook,
    period: run.period,
    zone: zoneOf(context, run.business),
    phase,
    ...definedOnly({ outcome }),
    ...(onlyPlans(run.policy) ? { planOnly: true } : {}),
    waitingFor,
    bills: sumOf(byState, ({ count }) => count),
    totalCents: sumOf(byState, ({ cents }) => cents),
    settledBills: byState.settled?.count ?? 0,
    settledCents: byState.settled?.cents ?? 0,
    byState,
    ...definedOnly({ givenBack }),
    decisions: await decisionsOf(context, run),
    exceptionCount: odd.count,
    exceptions: exceptions.map(exceptionOf),
    skipped: { count: plan?.skippedCount ?? 0, byCode: plan?.skippedByCode ?? {} },
    ...(await topUpStatuses(context, run)),
  };
}

async function decisionsOf(
  { store, profiles }: ReportContext,
  run: Run,
): Promise<RunReport["decisions"]> {
  const { runId, business, businessId, launchedAtMs } = run;
  const vendors = await vendorsConfirmedFor(store.db, run);
  const confirmed = await confirmedOf(store.db, run, vendors, launchedAtMs);
  const counted = await countedOf(store.db, { runId, businessId });
  const isAllowed = profiles.get(business)?.singlePerson === true;
  const singlePerson = isAllowed || counted.some(({ alone }) => alone);
  return {
    singlePerson,
    counted,
    confirmed,
    refused: await refusedOf(store.db, businessId, [runId]),
  };
}

/** Returns the report of a retry: its one bill. */
export function reportOfStatus(status: RunStatus): RunReport {
  const byState: StateSums = sumsOfLines(status.payments);
  const exceptions = status.payments.filter(isException).map(exceptionOf);
  return {
    id: status.id,
    business: status.business,
    playbook: status.playbook,
    period: status.period,
    zone: status.zone,
    phase: status.phase,
    waitingFor: status.waitingFor,
    bills: status.payments.length,
    totalCents: sumOf(byState, ({ cents }) => cents),
    settledBills: byState.settled?.count ?? 0,
    settledCents: byState.settled?.cents ?? 0,
    byState,
    // A retry pays under the approval of its run, whose report names the approvers.
    decisions: { singlePerson: false, counted: [], confirmed: [], refused: [] },
    exceptionCount: exceptions.length,
    exceptions,
    skipped: { count: 0, byCode: {} },
  };
}

function exceptionOf(payment: RunPaymentStatus): RunReport["exceptions"][number] {
  const { payableId, publicId, contactName, amountCents, parts } = payment;
  const { state, givenBack, reasonCode, reason } = payment;
  const named = { payableId, publicId, contactName, amountCents, parts };
  return { ...named, state, givenBack, reasonCode, reason };
}

const COLUMNS: readonly (readonly [string, (payment: RunPaymentStatus) => string])[] = [
  ["payable_id", (payment) => payment.payableId],
  ["public_id", (payment) => payment.publicId ?? ""],
  ["vendor", (payment) => payment.contactName ?? ""],
  ["amount_usd", (payment) => decimalDollars(payment.amountCents)],
  ["state", (payment) => payment.state],
  ["reason_code", (payment) => payment.reasonCode ?? ""],
  ["reason", (payment) => payment.reason ?? ""],
  ["due_date", (payment) => payment.dueDate ?? ""],
  ["execution_date", (payment) => payment.executionDate ?? ""],
  ["arrival_date", (payment) => payment.arrivalDate ?? ""],
  ["payment_ids", (payment) => payment.paymentIds.join(" ")],
  ["attempts", (payment) => String(payment.attempts)],
  ["approved_by", (payment) => payment.approvedBy.join(" ")],
  // The text that people read, if the state, which programs know, doesn't say it all.
  ["stands", shownBillState],
  // A bill that was paid in parts is not wholly in its state.
  ["settled_usd", (payment) => decimalDollars(centsIn("settled", payment))],
  ["in_state_usd", (payment) => decimalDollars(centsIn(payment.state, payment))],
];

/** Writes one row per line of the run, RFC 4180, read and written page by page. */
export async function* reportCsv(context: ReportContext, run: Run): AsyncGenerator<string> {
  yield csvHead();
  for (let offset = 0; ; offset += LINES_AT_ONCE) {
    const lines = await linesOf(context, run, { offset, limit: LINES_AT_ONCE });
    if (lines.length > 0) yield csvRows(lines);
    if (lines.length < LINES_AT_ONCE) return;
  }
}

/** Returns the table of a retry. */
export function reportCsvOfStatus(status: RunStatus): string {
  return `${csvHead()}${csvRows(status.payments)}`;
}

function csvHead(): string {
  return `${COLUMNS.map(([name]) => name).join(",")}\r\n`;
}

function csvRows(payments: readonly RunPaymentStatus[]): string {
  return payments
    .map((payment) => `${COLUMNS.map(([, read]) => cell(read(payment))).join(",")}\r\n`)
    .join("");
}
