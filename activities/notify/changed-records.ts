import { LINE } from "../../src/contracts/line-states.ts";
import { vendorsChanged } from "../../src/domain/facts/runs.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import { DAY_MS, MINUTE_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { rolesAskedOf } from "../../src/domain/approvals/changed-records.ts";
import { escalatedStage } from "../../src/domain/approvals/stages.ts";
import { recallOf } from "../../src/domain/cancellations/cut-off.ts";
import { type BillOfRecord } from "../../src/domain/notices/record-texts.ts";
import { alarmOf } from "../../src/domain/payments/alarms.ts";
import { type AskedLine, askedLines } from "../../src/store/lines/asked-records.ts";
import { unreportedFacts } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** A sync changes many records within minutes: it is over once none was noticed for this long. */
const QUIET_MS = 10_000;
const QUIET_AT_MOST_MS = 5 * MINUTE_MS;

/**
 * Notifies, once for all that changed together, of vendors' records that were changed after the
 * approval: in all runs of the business, whatever becomes of their bills.
 *
 * @param isLast true if no later look follows
 * @returns real milliseconds until the notice is due; `Infinity` if there is none to raise
 */
export async function notifyOfChangedRecords(
  trx: Transaction<Tables>,
  businessId: string,
  clock: ClockReading,
  isLast = false,
): Promise<number> {
  const asked = await askedLines(trx, businessId, clock.realMs - DAY_MS);
  if (asked.length === 0) return Infinity;
  const { kind } = vendorsChanged;
  const fresh = await unreportedFacts(trx, { businessId, kind }, [...new Set(asked.map(factOf))]);
  const lines = asked.filter((line) => fresh.has(factOf(line)));
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return Infinity;
  const untilMs = Math.min(
    last.recordAskedAtMs + QUIET_MS,
    first.recordAskedAtMs + QUIET_AT_MOST_MS,
  );
  if (!isLast && clock.realMs < untilMs) return untilMs - clock.realMs;
  const bills = lines.map((line) => billOf(line, clock));
  const together = [...fresh];
  const changed = { bills, zone: clock.zone, roles: await rolesAsked(trx, lines), together };
  await record(trx, vendorsChanged({ businessId, nowMs: clock.realMs }, changed));
  return Infinity;
}

/**
 * A vendor's record is reported once, whatever bills and runs it concerns: once for bills that wait
 * for a word about it, and once for payments that were scheduled before it was changed.
 */
function factOf(line: AskedLine): string {
  return `${line.contactId}/${line.recordAsked}${isSent(line) ? "/scheduled" : ""}`;
}

/** True if the service has had its payment, which may have been cancelled since. */
function isSent(line: AskedLine): boolean {
  return LINE.recallable.includes(line.state) || isCancelled(line);
}

function isCancelled({ state }: AskedLine): boolean {
  return LINE.calledBack.includes(state);
}

function billOf(line: AskedLine, clock: ClockReading): BillOfRecord {
  const { runId, payableId, contactId, amountCents, reason, reasonCode } = line;
  const { paymentIds, attempts } = line;
  const isHeld = alarmOf(reasonCode) !== undefined;
  const bill = { runId, payableId, contactId, amountCents, reason, isHeld };
  if (isCancelled(line)) return { ...bill, stands: "cancelled", untilMs: null };
  if (!isSent(line)) return { ...bill, stands: "waits", untilMs: null };
  const isSplit = paymentIds.length > Math.max(1, attempts);
  const state = line.state === "held" ? "held" : "scheduled";
  const recall = recallOf({ state, scheduledAt: line.executionDate, isSplit }, clock);
  if (recall === undefined) return { ...bill, stands: "not-recallable", untilMs: null };
  return { ...bill, stands: isHeld ? "cancelling" : "recallable", untilMs: recall.untilMs };
}

async function rolesAsked(
  trx: Transaction<Tables>,
  lines: readonly AskedLine[],
): Promise<string[]> {
  const roles = new Set<string>();
  for (const [runId, own] of Map.groupBy(lines, (line) => line.runId)) {
    const run = await getRun(trx, runId);
    for (const line of own) {
      const rule = run?.policy.approve[line.ruleIndex];
      for (const role of rolesAskedOf(rule, escalatedStage(line))) roles.add(role);
    }
  }
  return [...roles];
}
