import { definedOnly } from "../../src/contracts/defined-only.ts";
import type { DecisionAnswer, DecisionRefusal } from "../../src/decisions/take.ts";
import { takeAnyDecision } from "../../src/decisions/take-top-up.ts";
import { askedRecords } from "../../src/store/lines/asked-records.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { MoneyWorld } from "./money-world.ts";

/** Answers what is asked in a run about vendors' records, or what is given instead. */
export async function confirmRecords(
  world: MoneyWorld,
  runId: string,
  {
    name = "olga",
    roles = ["owner"],
    records,
    proof,
  }: {
    readonly name?: string;
    readonly roles?: readonly string[];
    readonly records?: readonly { contactId: string; updatedAt: string | null }[];
    /** Set if it is signed. */
    readonly proof?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<DecisionAnswer | DecisionRefusal> {
  const asked = await askedRecords(world.store.db, runId);
  const all = asked.map(({ contactId, record }) => ({ contactId, updatedAt: record }));
  const clock = await world.context().clockOf("acme").now();
  return world.store.transactionOf(world.businessId, async (trx) => {
    const run = await getRun(trx, runId);
    if (run === undefined) throw new Error(runId);
    return takeAnyDecision(trx, {
      run,
      request: {
        ...{ decision: "approve", planHash: run.planHash ?? "", drop: [] },
        confirmedRecords: records ?? all,
      },
      principal: { tokenId: `tok_${name}`, name, roles },
      clock,
      nowMs: Date.now(),
      ...definedOnly({ proof }),
    });
  });
}
