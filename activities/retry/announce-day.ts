import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { RetryChange } from "../../src/store/retries/retries.ts";
import { type RetryCase, setLine, setRow } from "./retry-case.ts";

/**
 * Announces the banking day on which a retry runs.
 *
 * @param change of its record, written last and in one go
 */
export async function announceDay(
  retry: RetryCase,
  date: string,
  about: {
    readonly reasonCode: LineReason | null;
    readonly reason: string;
    readonly ofAtMost: number;
  },
  change: RetryChange = {},
): Promise<void> {
  const { reasonCode, ofAtMost } = about;
  const reason = `${about.reason}. Tried again on ${date} (${retry.row.retriesMade + 1} of ${ofAtMost}).`;
  await setLine(retry, { state: "retrying", reasonCode, reason, backsOffAtMs: null });
  await setRow(retry, { ...change, retryOn: date });
}
