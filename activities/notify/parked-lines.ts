import type { Transaction } from "kysely";
import { parked } from "../../src/domain/notices/run-texts.ts";
import { lastRaisedMs, raiseTogether, takeBackUnsent } from "../../src/store/notices/notices.ts";
import { unreportedParked } from "../../src/store/lines/parked-notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/**
 * Time between two notices of parked bills: a run with failures by the hundred sends only a few.
 */
const PARKED_EVERY_MS = 5 * 60_000;

/** The most bills that a notice lists for programs. */
export const NAMED = 100;

/** The roles that may resolve any parked bill, whatever its playbook says. */
const OPERATORS = ["operator"];

/**
 * Notifies operators, and the roles that a bill's playbook asks about the failure, of a run's
 * parked bills that no notice has named yet. Bills that are parked together are one notice.
 *
 * @param when `isLast`: no later look follows, so new ones are notified of now
 * @returns real milliseconds until the remaining ones are notified of; `Infinity` if none remain
 */
export async function notifyOfParked(
  trx: Transaction<Tables>,
  run: Run,
  when: { readonly nowMs: number; readonly isLast: boolean },
): Promise<number> {
  if (run.policy.notify.people === "none") return Infinity;
  const { businessId, runId } = run;
  if ((await unreportedParked(trx, run)).length === 0) return Infinity;
  const unsentOf = { businessId, kind: "parked", runId } as const;
  const { unsent, sendAtMs } = await takeBackUnsent(trx, unsentOf, when.nowMs);
  if (!when.isLast && unsent.length === 0) {
    const lastMs = await lastRaisedMs(trx, runId, "parked");
    const leftMs = lastMs === null ? 0 : lastMs + PARKED_EVERY_MS - when.nowMs;
    if (leftMs > 0) return leftMs;
  }
  // With those of the notices that were taken back.
  const lines = await unreportedParked(trx, run);
  const [first] = lines;
  if (first === undefined) return Infinity;
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
    sendAtMs,
  };
  const factKeys = lines.map(({ factKey }) => factKey);
  await raiseTogether(trx, notice, factKeys);
  return Infinity;
}
