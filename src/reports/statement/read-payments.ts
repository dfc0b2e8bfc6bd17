import { beforeFirstPayment } from "../../domain/payments/paid-since.ts";
import type { Payment, PaymentsClient } from "../../payments-api/index.ts";
import type { Db } from "../../store/index.ts";
import { getPlanLines, type PlannedLine } from "../../store/lines/plan-lines.ts";
import type { Run } from "../../store/runs/runs.ts";
import { GatewayError } from "../../actions/errors.ts";

/** Runs of up to this many bills ask for them one by one; of more, all that was paid since is read by page. */
const ONE_BY_ONE = 25;

/** Lines that are read at once. */
const LINES_AT_ONCE = 1_000;

/** A payment of a run, with the line it pays. */
export interface PaidLine {
  readonly planned: PlannedLine;
  readonly payment: Payment;
}

/**
 * Every payment of a run as the service tells of it now, some at a time.
 *
 * @throws GatewayError 503 where the service can't be asked, or shows one of them no more
 */
export async function* readPayments(
  db: Db,
  client: PaymentsClient,
  run: Run,
): AsyncGenerator<readonly PaidLine[]> {
  const { runId } = run;
  const seen = new Set<string>();
  for await (const payments of paymentPages(db, client, run)) {
    for (const { id } of payments) seen.add(id);
    yield await ofRun(db, runId, payments);
  }
  yield await ofRun(db, runId, await unlistedPayments(db, client, runId, seen));
}

/** The run's payments that the service's lists left out: without them the table would not tie. */
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
    const message = `The service lists no payment ${id}, which the run has made, nor shows it: ${why}`;
    throw new GatewayError(503, "service_unreachable", message);
  }
}

/** The service's payments among which the run's are, by page. */
async function* paymentPages(
  db: Db,
  client: PaymentsClient,
  run: Run,
): AsyncGenerator<readonly Payment[]> {
  const few = await getPlanLines(db, run.runId, { limit: ONE_BY_ONE + 1 });
  try {
    if (few.length > ONE_BY_ONE) {
      yield* client.payments.iteratePages({ createdAfter: beforeFirstPayment(run) });
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

async function ofRun(db: Db, runId: string, payments: readonly Payment[]): Promise<PaidLine[]> {
  const payableIds = [...new Set(payments.flatMap(({ payableId }) => payableId ?? []))];
  if (payableIds.length === 0) return [];
  const lines = await getPlanLines(db, runId, { payableIds });
  const byPayment = new Map(lines.flatMap((each) => each.line.paymentIds.map((id) => [id, each])));
  return payments.flatMap((payment) => {
    const planned = byPayment.get(payment.id);
    return planned === undefined ? [] : [{ planned, payment }];
  });
}
