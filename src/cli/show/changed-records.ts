import type { RunReview } from "../../api/review.ts";
import { formatUsd } from "../../domain/money.ts";
import { count, printable } from "../terminal/text.ts";

/** Describes each vendor about whose changed record the reader is asked. */
export function changedRecordLines(records: RunReview["changedRecords"]): string[] {
  return records.map(
    ({ contactId, contactName, text, count: bills, cents }) =>
      `${printable(contactName ?? contactId)}: ${count(bills, "bill")}, ${formatUsd(cents)}. ${printable(text)}`,
  );
}
