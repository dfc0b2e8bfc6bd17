import { expect } from "vitest";
import { holdBackFromRun } from "../../../activities/cancel/hold-back.ts";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import type { LineState } from "../../../src/contracts/line-states.ts";
import type { BillChoice, HoldPlaybook } from "../../../src/contracts/playbook.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";
import { withheldBy } from "../../../src/store/cancellations/cancellation-items.ts";
import { getPlanLine } from "../../../src/store/lines/plan-lines.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { upsertRetry } from "../../../src/store/retries/retries.ts";
import { storePlaybook } from "../../support/stored-playbook.ts";
import { releasersOf } from "../../../src/domain/cancellations/policy.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { type CancelWorld, test } from "../cancel-world.ts";
import { explainIn } from "../explain.ts";
import type { MoneyWorld } from "../money-world.ts";

function textFor(playbook: string): string {
  return `kind: hold\nchoose: { run: ${playbook} }\nevents: [contact.updated, payable.declined]\n`;
}

function policyFor(playbook: string): HoldPlaybook {
  const loaded = loadPlaybook(textFor(playbook), { file: "wait.yaml" });
  if (!loaded.ok || loaded.playbook.kind !== "hold") throw new Error("not loaded");
  return loaded.playbook;
}

/** Withholds as an event does, after its vendor or bill has changed; returns the request's id. */
async function withhold(
  cancels: CancelWorld,
  runId: string,
  narrowed: Partial<BillChoice>,
): Promise<string> {
  const { control } = cancels.money;
  const { vendor, payable } = narrowed;
  if (vendor != null) await control.changeContact(vendor, { phone: `+1 212 555 ${Date.now()}` });
  if (payable != null) await control.changePayable(payable, { status: "declined" });
  const run = await getRun(cancels.money.store.db, runId);
  const policy = policyFor(run?.playbook ?? "");
  return cancels.request({
    playbook: "wait",
    policy: { ...policy, choose: { ...policy.choose, ...narrowed } },
    runId,
  });
}

/** As `withhold`, but returns the bills that it has taken. */
async function withholdFor(
  cancels: CancelWorld,
  runId: string,
  narrowed: Partial<BillChoice>,
): Promise<string[]> {
  return cancels.shown(await withhold(cancels, runId, narrowed));
}

async function setState(
  world: MoneyWorld,
  runId: string,
  payableId: string,
  state: LineState,
): Promise<void> {
  await changeLine(world.store.db, { runId, payableId }, { state }, Date.now());
}

test("an event withholds the bills of its vendor, or its bill, in the run, each once", async ({
  cancels,
  world,
}) => {
  const { runId, payableIds } = await world.plannedRun([
    { contactId: "v1" },
    { contactId: "v2" },
    { contactId: "v2" },
  ]);
  const [one, two, three] = payableIds;
  expect(await withholdFor(cancels, runId, { vendor: "v1" })).toEqual([`${one} withheld`]);
  expect(await withholdFor(cancels, runId, { vendor: "v1" })).toEqual([]);
  expect(await withholdFor(cancels, runId, { payable: three ?? "" })).toEqual([
    `${three} withheld`,
  ]);
  expect(await withholdFor(cancels, runId, { vendor: "v2" })).toEqual([`${two} withheld`]);
  expect((await cancels.held()).toSorted()).toEqual([...payableIds].toSorted());
});

test("a bill that is settled is not held back", async ({ cancels, world }) => {
  const { runId } = await world.approvedRun([{ contactId: "v1" }]);
  await world.pay(runId);
  await world.control.advance("P14D");
  await world.follow(runId);
  expect(await withholdFor(cancels, runId, { vendor: "v1" })).toEqual([]);
});

test.for(["parked", "retrying"] as const)(
  "a bill that is %s may be sent again, so it is held back too",
  async (state, { cancels, world }) => {
    const { runId, payableId } = await world.plannedRun([{ contactId: "v1" }]);
    await setState(world, runId, payableId, state);
    expect(await withholdFor(cancels, runId, {})).toEqual([`${payableId} withheld`]);
    expect(await cancels.held()).toContain(payableId);
  },
);

test("a retried bill that the service already has again is reported with its new payment", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{ contactId: "v1" }]);
  await world.pay(runId);
  await setState(world, runId, payableId, "retrying");
  const workflowId = retryFailedPaymentId("acme", payableId);
  const retry = { businessId: world.businessId, payableId, business: "acme", workflowId };
  await upsertRetry(world.store.db, { ...retry, runId, phase: "following", nowMs: Date.now() });
  const id = await withhold(cancels, runId, {});
  expect(await cancels.shown(id)).toEqual([`${payableId} too-late`]);
  const [payment] = await world.paymentsOf(payableId);
  const [item] = await cancels.itemsOf(id);
  expect(item?.reason).toMatch(`payrun cancel-scheduled ${payment?.id}`);
});

test("if an event withholds a bill that the service already has, people are notified", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{ contactId: "v1" }]);
  await world.pay(runId);
  const [payment] = await world.paymentsOf(payableId);
  const id = await withhold(cancels, runId, { vendor: "v1" });
  expect(await cancels.told(id)).toEqual([
    expect.stringContaining(`payrun cancel-scheduled ${payment?.id}`),
  ]);
});

test("the notice about a bill that was not released in time names its vendor and number", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.plannedRun([{ contactId: "v1" }]);
  const id = await withhold(cancels, runId, {});
  await world.control.advance("P14D");
  await cancels.turns(id);
  const [notice] = await listNotices(world.store.db, { kind: "bill-not-released", limit: 1 });
  const { contactName, publicId } = (await getPlanLine(world.store.db, runId, payableId)) ?? {};
  expect(notice?.subject).toBe(
    `${contactName} ${publicId}, $100.00: still held back, it is not paid`,
  );
  expect(notice?.text).toContain("Nobody released it in time");
  const { text } = await explainIn(world, payableId);
  expect(text).toContain("Still held back (Nobody released it in time, so it is not paid.");
});

test("the notice about a held-back bill that was paid outside Payrun meanwhile doesn't call it unpaid", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.plannedRun([{ contactId: "v1" }]);
  const id = await withhold(cancels, runId, {});
  await world.control.payOutside(payableId);
  await world.assess(runId);
  await world.follow(runId);
  expect((await world.assess(runId)).ended).toBe(true);
  await cancels.turns(id);
  const [notice] = await listNotices(world.store.db, { kind: "bill-not-released", limit: 1 });
  expect(notice?.subject).toMatch(/, \$100\.00: still held back, though it was paid$/);
  expect(notice?.text).toMatch(
    /^It was paid, and not by its run\. It stays on hold until controller or owner releases it\./,
  );
});

test("a bill whose request may be under way is held by the withholding's own hold", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.plannedRun([{ contactId: "v1" }]);
  await setState(world, runId, payableId, "unknown");
  const id = await withhold(cancels, runId, {});
  expect(await cancels.shown(id)).toEqual([`${payableId} unknown`]);
  const [item] = await cancels.itemsOf(id);
  const found = await withheldBy(world.store.db, item?.holdId ?? "");
  expect(found && releasersOf(found.cancellation.policy)).toEqual(["controller", "owner"]);
});

test("a hold playbook with events holds nothing back by itself", async ({ cancels, world }) => {
  const { runId } = await world.plannedRun([{ contactId: "v1" }]);
  const run = await getRun(world.store.db, runId);
  await storePlaybook(world.store, { name: "wait", text: textFor(run?.playbook ?? "") });
  await holdBackFromRun(world.context(), runId);
  expect(await cancels.held()).toEqual([]);
});

test("a hold playbook that names no run withholds from every run, including off-cycle ones", async ({
  cancels,
  world,
}) => {
  const text = "kind: hold\nchoose: { vendor: v2 }\n";
  await storePlaybook(world.store, { name: "careful", text });
  const { runId, payableIds } = await world.plannedRun([{}, { contactId: "v2" }]);
  await holdBackFromRun(world.context(), runId);
  expect(await cancels.held()).toEqual([payableIds[1]]);
  const part = await world.plannedRun([{ contactId: "v2" }], {}, 4_000);
  await holdBackFromRun(world.context(), part.runId);
  expect(await cancels.held()).toContain(part.payableId);
  await world.approve(part.runId);
  await world.pay(part.runId);
  expect(await world.paymentsOf(part.payableId)).toEqual([]);
});
