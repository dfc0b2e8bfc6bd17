import { newYorkDate } from "../domain/clock/new-york.ts";
import type { Payment, PaymentsClient } from "../payments-api/index.ts";
import type { Db } from "../store/index.ts";
import { getPlanLines, type PlannedLine } from "../store/plans.ts";
import type { Run } from "../store/runs.ts";
import type { GatewayContext } from "./context.ts";
import { cell, csvLine, dollars } from "./csv.ts";
import { GatewayError } from "./http/errors.ts";

/** Runs of up to this many bills ask for them one by one; for more, all payments are read by page. */
const ONE_BY_ONE = 25;

/** Rows that are sent at once. */
const ROWS_AT_ONCE = 1_000;

interface BankLine {
  readonly date: string;
  readonly entry: "debit" | "return" | "refund";
  readonly cents: number;
  readonly note: string;
}

const COLUMNS = [
  "date",
  "entry",
  "debit_usd",
  "credit_usd",
  "payment_ids",
  "payable_ids",
  "bills",
  "vendor",
  "description",
  "bank_account_id",
  "source",
  "status",
  "settled_on",
  "note",
] as const;

/** One row of the table, ready to be sent: all that is kept of a payment until they are sorted. */
interface Row {
  readonly sort: string;
  readonly text: string;
}

/**
 * The run's payments as the paying account's statement shows them: one row per debit, and one for
 * money that came back, with the bills that each covers, by date. RFC 4180.
 *
 * The service pays each payment by a debit of its own (a large bill by several), so a row has one
 * payment and one bill; a payment that never reached the bank has none.
 *
 * @returns the table, some rows at a time
 * @throws GatewayError 503 where the service can't be asked
 */
export async function bankCsv(
  context: Pick<GatewayContext, "store" | "profiles" | "clientOf">,
  run: Run,
): Promise<AsyncIterable<string>> {
  const profile = context.profiles.byBusinessId(run.businessId);
  if (profile === undefined) {
    const message = `The business ${run.business} is in no profile any more; its payments can't be read.`;
    throw new GatewayError(503, "business_unknown", message);
  }
  const { db } = context.store;
  const client = context.clientOf(profile);
  const rows: Row[] = [];
  const seen = new Set<string>();
  for await (const payments of paymentPages(db, client, run.runId)) {
    for (const { id } of payments) seen.add(id);
    rows.push(...(await rowsOfPage(db, run.runId, payments)));
  }
  const unlisted = await unlistedPayments(db, client, run.runId, seen);
  rows.push(...(await rowsOfPage(db, run.runId, unlisted)));
  rows.sort((one, other) => (one.sort < other.sort ? -1 : one.sort > other.sort ? 1 : 0));
  return inParts(rows);
}

/** The run's payments that the service's lists left out: without them the table would not tie. */
async function unlistedPayments(
  db: Db,
  client: PaymentsClient,
  runId: string,
  seen: ReadonlySet<string>,
): Promise<Payment[]> {
  const found: Payment[] = [];
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const page = { offset, limit: ROWS_AT_ONCE };
    const lines = await getPlanLines(db, runId, { page });
    for (const id of lines.flatMap(({ line }) => line.paymentIds)) {
      if (!seen.has(id)) found.push(await paymentOf(client, id));
    }
    if (lines.length < ROWS_AT_ONCE) return found;
  }
}

async function paymentOf(client: PaymentsClient, id: string): Promise<Payment> {
  try {
    return await client.payments.get(id);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `The service lists no payment ${id}, which the run has made, nor shows it: ${why}`;
    throw new GatewayError(503, "service_unreachable", message);
  }
}

/** The service's payments among which the run's are, by page. */
async function* paymentPages(
  db: Db,
  client: PaymentsClient,
  runId: string,
): AsyncGenerator<readonly Payment[]> {
  const few = await getPlanLines(db, runId, { limit: ONE_BY_ONE + 1 });
  try {
    if (few.length > ONE_BY_ONE) {
      yield* client.payments.iteratePages({});
      return;
    }
    for (const { line } of few) {
      if (line.paymentIds.length === 0) continue;
      yield await client.payments.listAll({ payableId: line.payableId });
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GatewayError(503, "service_unreachable", `The payments can't be read: ${why}`);
  }
}

async function rowsOfPage(db: Db, runId: string, payments: readonly Payment[]): Promise<Row[]> {
  const payableIds = [...new Set(payments.flatMap(({ payableId }) => payableId ?? []))];
  if (payableIds.length === 0) return [];
  const lines = await getPlanLines(db, runId, { payableIds });
  const byPayment = new Map(lines.flatMap((each) => each.line.paymentIds.map((id) => [id, each])));
  return payments.flatMap((payment) => {
    const planned = byPayment.get(payment.id);
    return planned === undefined ? [] : rowsOf(planned, payment);
  });
}

async function* inParts(rows: readonly Row[]): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const part = rows.slice(start, start + ROWS_AT_ONCE);
    yield part.map(({ text }) => text).join("");
  }
}

function rowsOf({ plan, line }: PlannedLine, payment: Payment): Row[] {
  const settledOn = payment.status === "completed" ? dateOf(payment.processedAt) : "";
  return bankLines(payment, line.executionDate).map(({ date, entry, cents, note }) => {
    const isDebit = entry === "debit";
    const cells = [
      date,
      entry,
      isDebit ? dollars(cents) : "",
      isDebit ? "" : dollars(cents),
      cell(payment.id),
      cell(line.payableId),
      cell(plan.publicId ?? ""),
      cell(plan.contactName ?? ""),
      cell(plan.description ?? ""),
      cell(payment.bankAccountId ?? ""),
      cell([plan.funding.name, plan.funding.last4].filter((part) => part !== null).join(" ")),
      cell(payment.status),
      settledOn,
      cell(note),
    ];
    return { sort: `${date} ${payment.id} ${isDebit ? 0 : 1}`, text: csvLine(cells) };
  });
}

/** What a payment made the bank write into the payer's account. */
function bankLines(payment: Payment, executionDate: string): BankLine[] {
  const { status, amountCents: cents, scheduledAt, updatedAt, failureReason } = payment;
  const debit: BankLine = {
    date: dateOf(scheduledAt) || executionDate,
    entry: "debit",
    cents,
    note: "",
  };
  const back = { date: dateOf(updatedAt) || debit.date, cents };
  const why = failureReason ?? "";
  switch (status) {
    case "completed":
      return [debit];
    case "processing":
      return [{ ...debit, note: "on its way; not settled yet" }];
    case "failed":
    case "returned":
      return [debit, { ...back, entry: "return", note: why }];
    case "refund_pending":
      return [{ ...debit, note: "a refund is on its way" }];
    case "refunded":
      return [debit, { ...back, entry: "refund", note: "may have gone into the balance instead" }];
    default:
      return [];
  }
}

function dateOf(instant: string | null): string {
  if (instant === null) return "";
  if (/^\d{4}-\d{2}-\d{2}$/.test(instant)) return instant;
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? "" : newYorkDate(ms);
}
