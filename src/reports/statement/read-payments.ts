import { DAY_MS } from "../../contracts/durations.ts";
import { beforeFirstPayment } from "../../domain/payments/paid-since.ts";
import type { Payment, PaymentsClient } from "../../payments-api/index.ts";
import type { Db } from "../../store/index.ts";
import {
  getLinesOfPayables,
  getPlanLines,
  paymentIdsDated,
  type PlannedLine,
} from "../../store/lines/plan-lines.ts";
import { paymentsChangedSince } from "../../store/payables/seen-payments.ts";
import type { Run } from "../../store/runs/runs.ts";
import { GatewayError } from "../../actions/errors.ts";

/**
 * Payments of runs of up to this many bills are read bill by bill; for larger runs, all payments
 * since the run's first are read page by page.
 */
const ONE_BY_ONE = 25;

/** Lines read at once. */
const LINES_AT_ONCE = 1_000;

/** A payment of a run, with the line it pays. */
export interface PaymentOfLine {
  readonly planned: PlannedLine;
  readonly payment: Payment;
}

/**
 * Reads every payment of a run as the service shows it now, some at a time.
 *
 * @throws GatewayError 503 if the service can't be read, or no longer shows one of them
 */
export async function* readRunPayments(
  db: Db,
  client: PaymentsClient,
  run: Run,
): AsyncGenerator<readonly PaymentOfLine[]> {
  const { runId } = run;
  const seen = new Set<string>();
  for await (const payments of paymentPages(db, client, run)) {
    for (const { id } of payments) seen.add(id);
    yield await ofRun(db, runId, payments);
  }
  yield await ofRun(db, runId, await unlistedPayments(db, client, runId, seen));
}

/** Days, both included, `YYYY-MM-DD` in New York. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/**
 * Most payments are made less than this before they are debited; older ones are read one by one.
 */
const MADE_BEFORE_MS = 35 * DAY_MS;

/**
 * Reads every payment of a business's runs that may have left or come back within these days, as
 * the service shows it now, some at a time. The result may contain other payments too.
 *
 * @throws GatewayError 503 if the service can't be read, or no longer shows one of them
 */
export async function* readPaymentsOfDays(
  db: Db,
  client: PaymentsClient,
  businessId: string,
  days: Days,
): AsyncGenerator<readonly PaymentOfLine[]> {
  const fromMs = Date.parse(days.from);
  const createdAfter = new Date(fromMs - MADE_BEFORE_MS).toISOString();
  const linesOf = (ids: readonly string[]) => getLinesOfPayables(db, businessId, ids);
  const seen = new Set<string>();
  for await (const payments of sayingWhy(client.payments.iteratePages({ createdAfter }))) {
    for (const { id } of payments) seen.add(id);
    yield await withLines(payments, linesOf);
  }
  const changed = await paymentsChangedSince(db, businessId, new Date(fromMs).toISOString());
  const known = new Set([...(await paymentIdsDated(db, businessId, days)), ...changed]);
  for (const id of known) {
    if (!seen.has(id)) yield await withLines([await paymentOf(client, id)], linesOf);
  }
}

/**
 * Reads the run's payments that the service's lists left out: without them the table would not
 * reconcile.
 */
async function unlistedPayments(
  db: Db,
  client: PaymentsClient,
  runId: string,
  seen: ReadonlySet<string>,
): Promise<Payment[]> {
  const found: Payment[] = [];
  for (let offset = 0; ; offset += LINES_AT_ONCE) {
    const page = { offset, limit: LINES_AT_ONCE };
    const lines = await getPlanLines(db, runId, { page });
    for (const id of lines.flatMap(({ line }) => line.paymentIds)) {
      if (!seen.has(id)) found.push(await paymentOf(client, id));
    }
    if (lines.length < LINES_AT_ONCE) return found;
  }
}

async function paymentOf(client: PaymentsClient, id: string): Promise<Payment> {
  try {
    return await client.payments.get(id);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `The service lists no payment ${id}, which Payrun has made, nor shows it: ${why}`;
    throw new GatewayError("service_unreachable", message);
  }
}

/** Reads pages of the service's payments that include the run's. */
function paymentPages(
  db: Db,
  client: PaymentsClient,
  run: Run,
): AsyncGenerator<readonly Payment[]> {
  return sayingWhy(pagesOfRun(db, client, run));
}

async function* pagesOfRun(
  db: Db,
  client: PaymentsClient,
  run: Run,
): AsyncGenerator<readonly Payment[]> {
  const few = await getPlanLines(db, run.runId, { limit: ONE_BY_ONE + 1 });
  if (few.length > ONE_BY_ONE) {
    yield* client.payments.iteratePages({ createdAfter: beforeFirstPayment(run) });
    return;
  }
  for (const { line } of few) {
    if (line.paymentIds.length === 0) continue;
    yield await client.payments.listAll({ payableId: line.payableId });
  }
}

/** Yields the same pages; if they can't be read, the error says why. */
async function* sayingWhy(
  pages: AsyncIterable<readonly Payment[]>,
): AsyncGenerator<readonly Payment[]> {
  try {
    yield* pages;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GatewayError("service_unreachable", `The payments can't be read: ${why}`);
  }
}

function ofRun(db: Db, runId: string, payments: readonly Payment[]): Promise<PaymentOfLine[]> {
  return withLines(payments, (payableIds) => getPlanLines(db, runId, { payableIds }));
}

/** Returns the payments that these lines have made. */
async function withLines(
  payments: readonly Payment[],
  linesOf: (payableIds: readonly string[]) => Promise<readonly PlannedLine[]>,
): Promise<PaymentOfLine[]> {
  const payableIds = [...new Set(payments.flatMap(({ payableId }) => payableId ?? []))];
  if (payableIds.length === 0) return [];
  const lines = await linesOf(payableIds);
  const byPayment = new Map(lines.flatMap((each) => each.line.paymentIds.map((id) => [id, each])));
  return payments.flatMap((payment) => {
    const planned = byPayment.get(payment.id);
    return planned === undefined ? [] : [{ planned, payment }];
  });
}
