import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { chooseCancellation } from "../../activities/cancel/choose.ts";
import { withholdFromRun } from "../../activities/cancel/withhold.ts";
import { cancelScheduledPaymentsId } from "../../src/contracts/names.ts";
import type { CancelChoice, CancelScheduledPlaybook } from "../../src/contracts/playbook.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { insertCancellation } from "../../src/store/cancellations.ts";
import { listItems } from "../../src/store/cancellation-items.ts";
import { activeHolds } from "../../src/store/holds.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { getRun } from "../../src/store/runs.ts";
import { MoneyWorld } from "./money-world.ts";

let world: MoneyWorld;
let made = 0;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
});

function textFor(playbook: string): string {
  return `kind: cancel-scheduled\nchoose: { run: ${playbook} }\nevents: [contact.updated, payable.declined]\n`;
}

function policyFor(playbook: string): CancelScheduledPlaybook {
  const loaded = loadPlaybook(textFor(playbook), { file: "wait.yaml" });
  if (!loaded.ok || loaded.playbook.kind !== "cancel-scheduled") throw new Error("not loaded");
  return loaded.playbook;
}

/** Withholds as an event for a vendor or a bill does; answers the bills it has taken. */
async function withholdFor(runId: string, narrowed: Partial<CancelChoice>): Promise<string[]> {
  made += 1;
  const workflowId = cancelScheduledPaymentsId("acme", `wait/event-${made}`);
  const run = await getRun(world.store.db, runId);
  const policy = policyFor(run?.playbook ?? "");
  await insertCancellation(world.store.db, {
    workflowId,
    businessId: world.businessId,
    business: "acme",
    playbook: "wait",
    policy: { ...policy, choose: { ...policy.choose, ...narrowed } },
    runId,
    reason: "contact.updated",
    requestedBy: "events of wait",
    nowMs: Date.now(),
  });
  await chooseCancellation(world.context(), workflowId);
  const items = await listItems(world.store.db, workflowId);
  return items.map(({ payableId, state }) => `${payableId} ${state}`);
}

async function held(): Promise<string[]> {
  const holds = await activeHolds(world.store.db, world.businessId, Date.now());
  return holds.map(({ value }) => value);
}

test("an event withholds what its vendor or bill has in the run, each bill once", async () => {
  const { runId, payableIds } = await world.plannedRun([
    { contactId: "v1" },
    { contactId: "v2" },
    { contactId: "v2" },
  ]);
  const [one, two, three] = payableIds;
  expect(await withholdFor(runId, { vendor: "v1" })).toEqual([`${one} withheld`]);
  expect(await withholdFor(runId, { vendor: "v1" })).toEqual([]);
  expect(await withholdFor(runId, { payable: three ?? "" })).toEqual([`${three} withheld`]);
  expect(await withholdFor(runId, { vendor: "v2" })).toEqual([`${two} withheld`]);
  expect((await held()).toSorted()).toEqual([...payableIds].toSorted());
});

test("nothing of a bill that has come to its end is withheld", async () => {
  const { runId } = await world.approvedRun([{ contactId: "v1" }]);
  await world.pay(runId);
  await world.control.advance("P14D");
  await world.follow(runId);
  expect(await withholdFor(runId, { vendor: "v1" })).toEqual([]);
});

test("a playbook with events is not in force on a run by itself", async () => {
  const { runId } = await world.plannedRun([{ contactId: "v1" }]);
  const run = await getRun(world.store.db, runId);
  await storePlaybook(world.store, { name: "wait", text: textFor(run?.playbook ?? "") });
  await withholdFromRun(world.context(), runId);
  expect(await held()).toEqual([]);
});
