import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import type { RetryCase } from "./retry-case.ts";

/** Day in New York on which the first payment of a line was made, from which Nacha counts. */
export function firstPaidOn({ payments, line }: RetryCase): string | null {
  const days = payments.flatMap(({ id, processedAt, scheduledAt, createdAt }) => {
    if (!line.paymentIds.includes(id)) return [];
    const at = processedAt ?? scheduledAt ?? createdAt;
    if (at === null) return [];
    if (/^\d{4}-\d{2}-\d{2}$/.test(at)) return [at];
    const ms = Date.parse(at);
    return Number.isNaN(ms) ? [] : [newYorkDate(ms)];
  });
  return days.toSorted()[0] ?? null;
}
