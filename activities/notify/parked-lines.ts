import type { Transaction } from "kysely";
import { parked } from "../../src/domain/notices/run-texts.ts";
import { lastRaisedMs, raiseTogether } from "../../src/store/notices/notices.ts";
import { parkedUntold } from "../../src/store/lines/parked-notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** Between two notices of parked bills: a run that fails by the hundred tells of it in a few. */
const PARKED_EVERY_MS = 5 * 60_000;

/** Bills that a notice names to programs. */
const NAMED = 100;

/** Whoever may resolve any parked bill, whatever its playbook says. */
const OPERATORS = ["operator"];

/**
 * Tells of the parked bills of a run that nobody has been told of: operators, and the roles that
 * their playbook asks about the failure.
 *
 * @param when `isLast`: nobody looks again later, so what is new is told now
 * @returns real milliseconds until the rest is told; `Infinity` where all are
 */
export async function notifyOfParked(
  trx: Transaction<Tables>,
  run: Run,
  when: { readonly nowMs: number; readonly isLast: boolean },
): Promise<number> {
  if (run.policy.notify?.people === "none") return Infinity;
  const { businessId, runId } = run;
  const lines = await parkedUntold(trx, run);
  const [first] = lines;
  if (first === undefined) return Infinity;
  if (!when.isLast) {
    const lastMs = await lastRaisedMs(trx, runId, "parked");
    const leftMs = lastMs === null ? 0 : lastMs + PARKED_EVERY_MS - when.nowMs;
    if (leftMs > 0) return leftMs;
  }
  const notice = {
    businessId,
    kind: "parked" as const,
    factKey: first.factKey,
    ...parked(run, lines),
    roles: [...new Set([...OPERATORS, ...lines.flatMap(({ deciders }) => deciders)])],
    data: {
      count: lines.length,
      payableIds: lines.slice(0, NAMED).map(({ payableId }) => payableId),
    },
    runId,
    nowMs: when.nowMs,
  };
  const factKeys = lines.map(({ factKey }) => factKey);
  await raiseTogether(trx, notice, factKeys);
  return Infinity;
}
