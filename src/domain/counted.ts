/** A number with its noun: `1 bill`, `2 bills`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
