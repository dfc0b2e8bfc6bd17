import { factOfLate, paymentsLate } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { isLate } from "../../src/domain/payments/late.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { unreportedFacts } from "../../src/store/notices/notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

type Followed = Pick<RunLine, "payableId" | "amountCents" | "executionDate" | "attempts"> & {
  /** Where its payment stands. */
  readonly state: string;
};

/**
 * Returns those lines, of lines whose payments were just read, that are late at the bank or at the
 * service.
 */
export function lateOf<T extends Followed>(
  lines: readonly T[],
  { policy }: Pick<Run, "policy">,
  clock: ClockReading,
): T[] {
  const { arrivalBusinessDays } = policy.pay;
  const today = newYorkDate(clock.businessMs);
  return lines.filter((line) => isLate(line, { today, arrivalBusinessDays }));
}

/** Notifies operators of late payments, of each once for each state in which it is stuck. */
export async function notifyOfLatePayments(
  trx: Transaction<Tables>,
  run: Run,
  late: readonly Followed[],
  nowMs: number,
): Promise<void> {
  if (late.length === 0 || run.policy.notify.people === "none") return;
  const { businessId, runId } = run;
  const keyOf = (line: Followed) => factOfLate(runId, line);
  const unreported = await unreportedFacts(
    trx,
    { businessId, kind: paymentsLate.kind },
    late.map(keyOf),
  );
  const lines = late.filter((line) => unreported.has(keyOf(line)));
  if (lines.length > 0) await record(trx, paymentsLate({ businessId, nowMs }, { run, lines }));
}
