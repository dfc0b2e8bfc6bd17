import { sql, type Transaction } from "kysely";
import type { LineState } from "../contracts/pay-run.ts";
import { chunks } from "./db.ts";
import { rowsAs } from "./many.ts";
import type { Tables } from "./tables.ts";

/** A line whose payment was answered with success, as it is to be recorded. */
export interface PaidLine {
  readonly runId: string;
  readonly payableId: string;
  /** Of the draw that paid it. */
  readonly leaseEpoch: number;
  readonly state: LineState;
  readonly paymentIds: readonly string[];
}

/**
 * Gives lines of one run their payments and ends their leases, many in one statement.
 *
 * @param times `pollAtMs`: business-clock instant of the next look at their payments
 * @returns payables whose line was still held by the draw that paid it; of the others a later
 * draw's result counts, and nothing was written
 */
export async function recordPaidLines(
  trx: Transaction<Tables>,
  lines: readonly PaidLine[],
  times: { readonly pollAtMs: number; readonly nowMs: number },
): Promise<Set<string>> {
  const written = new Set<string>();
  for (const some of chunks(lines)) {
    const paid = rowsAs(
      "paid",
      { run: "text", id: "text", epoch: "integer", next_state: "text", payments: "text" },
      some.map(({ runId, payableId, leaseEpoch, state, paymentIds }) => ({
        run: runId,
        id: payableId,
        epoch: leaseEpoch,
        next_state: state,
        payments: JSON.stringify(paymentIds),
      })),
    );
    const { rows: found } = await sql<{ payable_id: string }>`
      update run_lines set
        state = paid.next_state, reason_code = null, reason = null,
        payment_ids = paid.payments, poll_at_ms = ${times.pollAtMs},
        lease_owner = null, lease_until_ms = null, updated_at_ms = ${times.nowMs}
      from ${paid}
      where run_lines.run_id = paid.run
        and run_lines.payable_id = paid.id
        and run_lines.lease_epoch = paid.epoch
      returning run_lines.payable_id`.execute(trx);
    for (const row of found) written.add(row.payable_id);
  }
  return written;
}

/** Gives live attempts the final answer that they were applied, many in one statement. */
export async function endAppliedAttempts(
  trx: Transaction<Tables>,
  attempts: readonly {
    readonly attemptId: string;
    readonly sends: readonly object[];
    readonly paymentIds: readonly string[];
  }[],
  nowMs: number,
): Promise<void> {
  for (const some of chunks(attempts)) {
    const applied = rowsAs(
      "applied",
      { id: "text", all_sends: "text", payments: "text" },
      some.map(({ attemptId, sends, paymentIds }) => ({
        id: attemptId,
        all_sends: JSON.stringify(sends),
        payments: JSON.stringify(paymentIds),
      })),
    );
    await sql`
      update attempts set
        state = 'applied', answer = '2xx', sends = applied.all_sends,
        payment_ids = applied.payments, updated_at_ms = ${nowMs}
      from ${applied}
      where attempts.attempt_id = applied.id and attempts.state = 'live'`.execute(trx);
  }
}
