/** Bills and what they come to. */
export interface BillSum {
  readonly count: number;
  readonly cents: number;
}

/** A number with its noun: `1 bill`, `1,200 bills`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}

/** What so many do: one bill waits, two wait. */
export function waits(count: number): "waits" | "wait" {
  return count === 1 ? "waits" : "wait";
}
