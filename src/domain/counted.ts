/** A number of bills, and their total. */
export interface BillSum {
  readonly count: number;
  readonly cents: number;
  /**
   * Bills counted in other states that have a part of their amount in `cents`; missing if there are
   * none.
   */
  readonly parts?: number | undefined;
}

export const NOTHING: BillSum = { count: 0, cents: 0 };

export function plus(some: BillSum, more: BillSum): BillSum {
  const parts = (some.parts ?? 0) + (more.parts ?? 0);
  const sum = { count: some.count + more.count, cents: some.cents + more.cents };
  return parts === 0 ? sum : { ...sum, parts };
}

/** Formats a number with its noun: `1 bill`, `1,200 bills`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}

/** Returns the verb for a number: one bill waits, two wait. */
export function waits(count: number): "waits" | "wait" {
  return count === 1 ? "waits" : "wait";
}

/** Formats the number of bills of a sum: `12`, `12 and part of 1`, `part of 1`. */
export function countOf({ count, parts = 0 }: BillSum): string {
  const whole = count.toLocaleString("en-US");
  if (parts === 0) return whole;
  const some = `part of ${parts.toLocaleString("en-US")}`;
  return count === 0 ? some : `${whole} and ${some}`;
}

/**
 * Formats the number of bills of a sum with its noun: `12 bills`, `12 bills and part of 1`, `part
 * of 1 bill`.
 */
export function billsOf({ count, parts = 0 }: BillSum): string {
  if (parts === 0) return counted(count, "bill");
  if (count === 0) return `part of ${counted(parts, "bill")}`;
  return `${counted(count, "bill")} and part of ${parts.toLocaleString("en-US")}`;
}
