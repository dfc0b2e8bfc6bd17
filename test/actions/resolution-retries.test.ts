import { byWorkflow } from "../../src/contracts/authors.ts";
import { expect, vi } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { activeHolds, createHold } from "../../src/store/holds/holds.ts";
import { claimPayables, releaseClaim } from "../../src/store/payables/claims.ts";
import { getRetry } from "../../src/store/retries/retries.ts";
import { approveLines } from "../gateway/support/rows.ts";
import { typed } from "../gateway/support/typed.ts";
import { parkedTest as test, resolve } from "./parked.ts";

test("a retry requested while Temporal is unreachable is recorded, and the answer says so", async ({
  gateway,
  operator,
  run,
}) => {
  await approveLines(gateway.store, run, ["p1"]);
  const answer = await resolve(gateway, operator, "p1", "retry");
  expect(answer.status).toBe(503);
  expect(answer.json["error"]).toBe("temporal_unreachable");
  expect(answer.json["message"]).toMatch(/recorded/);
  const retry = await getRetry(gateway.store.db, "biz_acme", "p1");
  expect(retry).toMatchObject({
    requested: "retry",
    requestedBy: "oli",
    runId: run.runId,
    workflowId: "retry-failed-payment/acme/p1",
  });
});

test("a bill that another run has claimed meanwhile is not retried", async ({
  gateway,
  operator,
  run,
}) => {
  await approveLines(gateway.store, run, ["p1"]);
  const { db } = gateway.store;
  const claim = { businessId: "biz_acme", payableId: "p1" };
  await releaseClaim(db, { ...claim, owner: run.runId });
  const owner = "pay-run/acme/weekly/2026-11-27";
  await claimPayables(db, { businessId: "biz_acme", payableIds: ["p1"], owner, nowMs: 1 });
  const answer = await resolve(gateway, operator, "p1", "retry");
  expect(answer.status).toBe(409);
  expect(answer.json).toMatchObject({ error: "owned_elsewhere" });
  expect(await getRetry(db, "biz_acme", "p1")).toBeUndefined();
});

test("a bill is not retried without a valid approval", async ({ gateway, operator, run }) => {
  await approveLines(gateway.store, run, ["p2"], Date.now() - 1_000);
  for (const payableId of ["p1", "p2"]) {
    const answer = await resolve(gateway, operator, payableId, "retry");
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("not_approved");
    expect(answer.json["message"]).toContain("next run");
    expect(await getRetry(gateway.store.db, "biz_acme", payableId)).toBeUndefined();
  }
});

test("a bill that its retry owns is given to the next run if no approval is valid any more", async ({
  gateway,
  operator,
}) => {
  const owner = retryFailedPaymentId("acme", "p1");
  const claim = { businessId: "biz_acme", payableIds: ["p1"], owner, nowMs: Date.now() };
  await gateway.store.transactionOf("biz_acme", async (trx) => {
    await trx.deleteFrom("claims").where("payable_id", "=", "p1").execute();
    await claimPayables(trx, claim);
  });
  const answer = await resolve(gateway, operator, "p1", "retry");
  // Temporal, which should signal the retry, isn't there.
  expect(answer.json["error"]).toBe("temporal_unreachable");
  expect(await getRetry(gateway.store.db, "biz_acme", "p1")).toMatchObject({
    requested: "retry",
  });
});

test("a bill that was given back for the next run is not given back again", async ({
  gateway,
  operator,
  run,
}) => {
  const { db } = gateway.store;
  await approveLines(gateway.store, run, ["p1"]);
  expect((await resolve(gateway, operator, "p1", "retry")).status).toBe(503);
  const approval_ended = "R02 ends its approval.";
  const ended = { phase: "ended", approval_ended, requested: null } as const;
  await db.updateTable("retries").set(ended).where("payable_id", "=", "p1").execute();
  const again = await resolve(gateway, operator, "p1", "retry");
  expect(again.status).toBe(409);
  expect(again.json).toMatchObject({
    error: "given_back",
    message: "It was given back already: the next run plans it and asks for a new approval.",
  });
  expect(await getRetry(db, "biz_acme", "p1")).toMatchObject({ requested: null });
  expect((await resolve(gateway, operator, "p1", "give-up")).status).toBe(200);
});

test("trying a bill again releases the hold on its vendor that its failure set", async ({
  gateway,
  operator,
  run,
}) => {
  await approveLines(gateway.store, run, ["p1"]);
  vi.spyOn(gateway.temporal.workflow, "signalWithStart").mockResolvedValue({} as never);
  const author = byWorkflow(retryFailedPaymentId("acme", "p1"));
  const vendor = { businessId: "biz_acme", scope: "contact", value: "con_p1" } as const;
  const held = { ...vendor, author, reason: "R02", nowMs: Date.now() };
  await gateway.store.transaction((trx) => createHold(trx, held));
  expect((await resolve(gateway, operator, "p1", "retry")).json).not.toHaveProperty("onHold");
  expect(await activeHolds(gateway.store.db, "biz_acme", Date.now())).toEqual([]);
});

test("the answer about a bill on hold says what releases it, whether it is tried again or given back", async ({
  gateway,
  operator,
  run,
}) => {
  const { db } = gateway.store;
  await approveLines(gateway.store, run, ["p1", "p2"]);
  vi.spyOn(gateway.temporal.workflow, "signalWithStart").mockResolvedValue({} as never);
  const cora = await gateway.token("cora", ["operator"]);
  await typed(gateway, cora, ["hold", "BILL-p1", "--reason", "disputed", "--yes"]);
  const keeps = "A hold on this bill applies to it (cora: disputed): ";
  const words = ["--retry", "--reason", "they called", "--yes"];
  const first = await typed(gateway, operator, ["resolve", "BILL-p1", "BILL-p2", ...words]);
  expect(first.stdout).toContain(`tried again once no hold applies to it. ${keeps}`);
  expect(first.stdout).toContain("1 bill, $100.00, is tried again.");
  await db.updateTable("retries").set({ phase: "ended", requested: null }).execute();
  const again = await typed(gateway, operator, ["resolve", "BILL-p1", ...words]);
  expect(again.stdout).toContain(`plans it and asks for a new approval. ${keeps}`);
});
