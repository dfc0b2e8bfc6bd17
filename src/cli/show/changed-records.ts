import type { RunReview } from "../../api/review.ts";
import { formatUsd } from "../../domain/money.ts";
import { printable } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";

/** Describes each vendor about whose changed record the reader is asked. */
export function changedRecordLines(records: RunReview["changedRecords"]): string[] {
  return records.map(
    ({ contactId, contactName, text, count: bills, cents }) =>
      `${printable(contactName ?? contactId)}: ${counted(bills, "bill")}, ${formatUsd(cents)}. ${printable(text)}`,
  );
}
