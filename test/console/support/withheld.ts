import { byWorkflow, SystemAuthor } from "../../../src/contracts/authors.ts";
import type { HoldPlaybook } from "../../../src/contracts/playbook.ts";
import { insertItem } from "../../../src/store/cancellations/cancellation-items.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import type { Store } from "../../../src/store/index.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";

/** Makes a playbook hold back a bill of a run until this instant. @returns the workflow's id */
export async function seedWithheld(
  store: Store,
  {
    runId,
    payableId,
    releaseByMs,
  }: { readonly runId: string; readonly payableId: string; readonly releaseByMs: number },
): Promise<string> {
  const nowMs = Date.now();
  const workflowId = "cancel-scheduled-payments/acme/hold-flagged";
  const own = { businessId: "biz_acme", workflowId } as const;
  await store.transaction(async (trx) => {
    await insertCancellation(trx, {
      ...{ ...own, business: "acme", playbook: "hold-flagged", runId, policy: policyOf() },
      ...{ reason: "flagged", requestedBy: new SystemAuthor("hold-flagged"), nowMs },
    });
    const roles = ["controller", "owner"];
    const about = { scope: "payable", value: payableId, reason: "flagged", roles } as const;
    const { holdId } = await createHold(trx, {
      ...own,
      ...about,
      author: byWorkflow(workflowId),
      nowMs,
    });
    const item = { itemNo: 0, payableId, contactId: "con_1", amountCents: 250_754 };
    const state = { paymentId: null, holdId, releaseByMs, state: "withheld" } as const;
    await insertItem(trx, { ...own, ...item, ...state, open: true, reason: null }, nowMs);
    await changeCancellation(trx, workflowId, { phase: "withholding", chosenAtMs: nowMs });
  });
  return workflowId;
}

/** Ends a hold-back whose time has passed without a release. */
export async function endWithheld(store: Store, workflowId: string): Promise<void> {
  const { db } = store;
  await db
    .updateTable("cancellation_items")
    .set({ open: 0, reason: "Nobody released it in time, so it is not paid." })
    .where("workflow_id", "=", workflowId)
    .execute();
  await changeCancellation(db, workflowId, { phase: "completed", endedAtMs: Date.now() });
}

function policyOf(): HoldPlaybook {
  const text = "kind: hold\nchoose: { run: weekly }\nunless: { releasedBy: [controller, owner] }\n";
  const loaded = loadPlaybook(text, { file: "hold.yaml" });
  if (!loaded.ok || loaded.playbook.kind !== "hold") throw new Error("not loaded");
  return loaded.playbook;
}
