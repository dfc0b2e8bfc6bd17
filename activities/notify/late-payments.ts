import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { lateAtBank } from "../../src/domain/notices/late-texts.ts";
import { isLate } from "../../src/domain/payments/late.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { raiseTogether, unreportedFacts } from "../../src/store/notices/notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { NAMED } from "./parked-lines.ts";

const KIND = "payment-late";

const OPERATORS = ["operator"];

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
  const keyOf = ({ payableId, state, attempts }: Followed): string =>
    `${runId}/${payableId}/${state}/${attempts}`;
  const unreported = await unreportedFacts(trx, { businessId, kind: KIND }, late.map(keyOf));
  const lines = late.filter((line) => unreported.has(keyOf(line)));
  const [first] = lines;
  if (first === undefined) return;
  const notice = {
    businessId,
    kind: KIND,
    factKey: keyOf(first),
    ...lateAtBank(run, lines),
    roles: OPERATORS,
    data: {
      count: lines.length,
      payableIds: lines.slice(0, NAMED).map(({ payableId }) => payableId),
    },
    runId,
    nowMs,
  } as const;
  await raiseTogether(trx, notice, lines.map(keyOf));
}
