import type { PlanLine } from "../../contracts/pay-run.ts";

/**
 * True where somebody should look at the line before it is paid.
 *
 * Being late is no reason: in the week after a holiday half of all bills are, and the few that
 * matter would drown among them.
 */
export function isOdd(line: Pick<PlanLine, "flags">): boolean {
  return line.flags.some((flag) => flag.kind !== "late");
}
