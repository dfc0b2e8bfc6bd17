import { billsParked } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import { lastRaisedMs, takeBackUnsent } from "../../src/store/notices/notices.ts";
import { unreportedParked } from "../../src/store/lines/parked-notices.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/**
 * Time between two notices of parked bills: a run with failures by the hundred sends only a few.
 */
const PARKED_EVERY_MS = 5 * 60_000;

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
  const head = { businessId, nowMs: when.nowMs };
  if (lines.length > 0) await record(trx, billsParked(head, { run, lines, sendAtMs }));
  return Infinity;
}
