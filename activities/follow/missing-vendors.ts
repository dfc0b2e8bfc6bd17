import { vendorMissing } from "../../src/domain/facts/payments.ts";
import { record } from "../../src/store/facts/record.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { vendorNotFoundText } from "../../src/domain/notices/open-texts.ts";
import { alarmOf } from "../../src/domain/payments/alarms.ts";
import { changeLine, type RunLine } from "../../src/store/lines/lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "../shared/context.ts";

/** Reason code of a scheduled line whose vendor the service doesn't find. */
const VENDOR_NOT_FOUND = "vendor_not_found" satisfies LineReason;

/**
 * Says that a scheduled line's vendor can't be found. Nothing is cancelled or put on hold for it: a record
 * that nobody can read shows no other account. If the next look finds none either, operators are
 * notified once a vendor, because nobody can tell whether the account is still the approved one.
 */
export async function noteVendorNotFound(
  context: ActivityContext,
  { businessId, runId }: Run,
  { line, plan }: { readonly line: RunLine; readonly plan: PlanLine },
  { realMs: nowMs }: ClockReading,
): Promise<void> {
  const { payableId, executionDate } = line;
  const { contactId, contactName } = plan;
  // An alarm says more.
  if (alarmOf(line.reasonCode) !== undefined) return;
  const reason = vendorNotFoundText(executionDate);
  if (line.reasonCode === null) {
    const change = { reasonCode: VENDOR_NOT_FOUND, reason } as const;
    await changeLine(context.store.db, line, change, nowMs, { from: [line.state] });
    return;
  }
  const missing = { runId, payableId, contactId, contactName, code: VENDOR_NOT_FOUND, reason };
  await record(context.store.db, vendorMissing({ businessId, nowMs }, missing));
}

/** Ends that, once the vendor can be read again. */
export async function noteVendorFound(
  context: ActivityContext,
  line: RunLine,
  nowMs: number,
): Promise<void> {
  if (line.reasonCode !== VENDOR_NOT_FOUND) return;
  const found = { reasonCode: null, reason: null };
  await changeLine(context.store.db, line, found, nowMs, { from: [line.state] });
}
