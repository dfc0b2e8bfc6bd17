import type { Store } from "../../../src/store/index.ts";
import type { SeededRun } from "../../gateway/support/rows.ts";
import { proposedDeposit } from "../../support/proposed-deposit.ts";

/** Makes a proposed deposit into the balance for a run or for an account that bounced. */
export async function seedDeposit(
  store: Store,
  { run, owner, hash }: { readonly run: SeededRun; readonly owner: string; readonly hash: string },
): Promise<void> {
  await store.transaction((trx) =>
    proposedDeposit(trx, {
      ...{ businessId: "biz_acme", business: "acme", subject: `deposit/balance/${owner}/1` },
      ...{ sourceId: "balance", owner, requestNo: 1, policyRunId: run.runId },
      ...{ amountCents: 150_000, neededOn: "2026-11-30", makeBy: "2026-11-27" },
      ...{ arrivesOn: "2026-12-02", late: false, planHash: run.planHash, hash },
      account: { bankAccountId: "bank_1", name: "First Bank", last4: "1234" },
      ...{ approvers: ["owner"], quorum: 1, sinceMs: 0, nowMs: Date.now() },
    }),
  );
}
