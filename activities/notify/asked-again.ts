import { personAskedAgain } from "../../src/domain/facts/approvals.ts";
import { record } from "../../src/store/facts/record.ts";
import type { Transaction } from "kysely";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { decidedBefore } from "../../src/store/approvals/decided-before.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/**
 * Notifies each person who has rejected bills of a plan, or left them out, that they are asked
 * about again. A playbook can't turn this off: the person who launches a run chooses the playbook.
 */
export async function notifyOfAskedAgain(
  trx: Transaction<Tables>,
  run: Run,
  lines: readonly PlanLine[],
  nowMs: number,
): Promise<void> {
  const asked = lines.filter(
    ({ flags, overLimit }) =>
      overLimit === null && flags.some(({ kind }) => kind === "rejected-before"),
  );
  const planned = asked.map(({ payableId }) => payableId);
  const before = await decidedBefore(trx, run.businessId, { planned, compared: [] });
  const refused = asked.flatMap(({ payableId, amountCents, flags }) => {
    const reason = flags.find(({ kind }) => kind === "rejected-before")?.text ?? "";
    const refusals = before.get(payableId)?.refusals ?? [];
    return refusals.map(({ principal, roles }) => ({
      principal,
      roles,
      bill: { payableId, amountCents, state: "awaiting-approval" as const, reason },
    }));
  });
  for (const [person, theirs] of Map.groupBy(refused, ({ principal }) => principal)) {
    const bills = new Map(theirs.map(({ bill }) => [bill.payableId, bill]));
    const roles = theirs.flatMap((each) => each.roles);
    const again = { run, person, roles, bills: [...bills.values()] };
    await record(trx, personAskedAgain({ businessId: run.businessId, nowMs }, again));
  }
}
