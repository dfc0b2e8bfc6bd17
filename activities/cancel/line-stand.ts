import type { Transaction } from "kysely";
import { LINE, type LineState } from "../../src/contracts/line-states.ts";
import { executionMs } from "../../src/domain/cancellations/cut-off.ts";
import { TOO_LATE } from "../../src/domain/cancellations/left-to-people.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import { getRetry } from "../../src/store/retries/retries.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** Where a line stands, for a caller that wants nothing more of its bill to be sent. */
export type LineStand =
  | { readonly kind: "unsent" }
  /** A request of it may still pay, or is about to be made. */
  | { readonly kind: "sending" }
  /** The service has it, or it has ended: there is nothing to hold back. */
  | {
      readonly kind: "beyond";
      readonly reason: string;
      /** Payments of the line that the service may still let go of. */
      readonly scheduledIds: readonly string[];
      /** When they go out; null if there are none, or if their date isn't known. */
      readonly goesOutAtMs: number | null;
    };

export async function lineStand(
  trx: Transaction<Tables>,
  { businessId, payableId, state, paymentIds, executionDate }: RunLine,
): Promise<LineStand> {
  const isOpen = [LINE.decidable, LINE.failed, LINE.leased].some((states) =>
    states.includes(state),
  );
  if (!isOpen) return beyond(state, paymentIds, executionDate);
  if (LINE.leased.includes(state) || (await isOpenSubject(trx, businessId, payableId))) {
    return { kind: "sending" };
  }
  if (state !== "retrying") return { kind: "unsent" };
  const retry = await getRetry(trx, businessId, payableId);
  if (retry?.phase !== "following") return { kind: "unsent" };
  const handled = new Set(retry.handledPaymentIds);
  return beyond(
    "scheduled",
    paymentIds.filter((id) => !handled.has(id)),
    null,
  );
}

/** Says why a bill can't be held back any more, and what can still be done. */
function beyond(
  state: LineState,
  paymentIds: readonly string[],
  executionDate: string | null,
): LineStand {
  const scheduledIds = LINE.recallable.includes(state) ? paymentIds : [];
  const reason =
    scheduledIds.length > 0
      ? `The service has it already, until a person takes it back: payrun cancel-scheduled ${scheduledIds.join(" ")}`
      : (SENT[state] ?? `Its line is ${state}, so there is nothing to hold back.`);
  const isToGo = scheduledIds.length > 0 && executionDate !== null;
  const goesOutAtMs = isToGo ? executionMs(executionDate) : null;
  return { kind: "beyond", reason, scheduledIds, goesOutAtMs };
}

/** Reasons, by state, for bills whose money the vendor gets or has. */
const SENT: Readonly<Partial<Record<LineState, string>>> = {
  processing: TOO_LATE.atTheBank,
  settled: TOO_LATE.settled,
};
