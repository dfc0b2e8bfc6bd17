import { expect } from "vitest";
import { choosePayments } from "../../../activities/cancel/choose-payments.ts";
import { stop } from "../../../src/actions/holds/stop.ts";
import { cancelScheduledPaymentsId } from "../../../src/contracts/workflow-kinds.ts";
import type { PayRule } from "../../../src/contracts/playbook.ts";
import { getCancellation } from "../../../src/store/cancellations/cancellations.ts";
import { releaseHold } from "../../../src/store/holds/holds.ts";
import { getIncident } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { type CancelWorld, test as cancelTest } from "../cancel-world.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

const pay: PayRule = { ...POLICY.pay, from: "bank_main" };

const CALLS_BACK = `kind: retry-failed
rules:
  - { match: [R01], pause: funding-account, onIncident: cancel-scheduled, retry: when-released }
  - { match: [R29], pause: funding-account, onIncident: cancel-scheduled, ask: [controller] }
`;

const test = cancelTest.extend("world", ({ world }) => {
  world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
  return world;
});

/** A bill whose payment from our bank account has failed, and another's that is scheduled from it. */
async function failedAndScheduled(
  world: MoneyWorld,
  code: string,
): Promise<{ readonly failed: PlannedBills; readonly scheduled: PlannedBills }> {
  const failed = await world.approvedRun([{}], { pay });
  const match = { payableId: failed.payableId };
  await world.control.outcome({ match, outcome: "fail", code, times: 1 });
  await world.pay(failed.runId);
  await world.control.advance("P9D");
  const scheduled = await world.approvedRun([{ contactId: "v2" }], { pay });
  await world.pay(scheduled.runId);
  await world.follow(failed.runId);
  expect((await world.look(failed.payableId)).waitingFor).toMatch(/one decision/);
  return { failed, scheduled };
}

/** Takes the turns of the cancellation that the account's incident has requested, if it has. */
async function callBack(world: MoneyWorld, cancels: CancelWorld): Promise<string> {
  const incident = await getIncident(world.store.db, world.businessId, "bank_main");
  const id = cancelScheduledPaymentsId("acme", `incident-${incident?.holdId ?? ""}`);
  if ((await getCancellation(world.store.db, id)) === undefined) return "none";
  await choosePayments(world.context(), id);
  await cancels.turns(id);
  return (await cancels.itemsOf(id)).map(({ state }) => state).join(" ");
}

async function incidentNotice({ store }: MoneyWorld): Promise<string> {
  const [notice] = await listNotices(store.db, { kind: "incident", limit: 1 });
  return notice?.text ?? "";
}

test("an incident calls back what is scheduled from its account, and its release reschedules it under the same approval", async ({
  world,
  cancels,
}) => {
  await world.failurePlaybook(CALLS_BACK);
  const { scheduled } = await failedAndScheduled(world, "R29");
  expect(await incidentNotice(world)).toMatch(
    /payments of 1 bill scheduled from it, \$100\.00; the first can be cancelled until .*New York[^]*Payrun cancels them/,
  );
  expect(await callBack(world, cancels)).toBe("cancelled");
  await world.follow(scheduled.runId);
  const { runId, payableId } = scheduled;
  expect(await world.line(runId, payableId)).toMatchObject({
    ...{ state: "on-hold", reasonCode: "on_hold", reason: expect.stringMatching(/called back/) },
  });
  await world.pay(runId);
  expect(await world.paymentsOf(payableId)).toMatchObject([{ status: "cancelled" }]);
  expect(await world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);

  await world.decideIncident("bank_main", "released");
  await world.pay(runId);
  expect((await world.paymentsOf(payableId)).map(({ status }) => status).toSorted()).toEqual([
    "cancelled",
    "scheduled",
  ]);
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.line(runId, payableId)).state).toBe("settled");
});

test("while nobody knows whose account a return is about, nothing is called back", async ({
  world,
  cancels,
}) => {
  await world.failurePlaybook(
    "kind: retry-failed\nrules: [{ match: [R02, R29], pause: funding-account, onIncident: cancel-scheduled, ask: [controller] }]\n",
  );
  const failed = await world.approvedRun([{}], { pay });
  const match = { payableId: failed.payableId };
  await world.control.outcome({ match, outcome: "fail", code: "R02", times: 1 });
  await world.pay(failed.runId);
  await world.control.advance("P9D");
  const scheduled = await world.approvedRun([{ contactId: "v2" }], { pay });
  await world.pay(scheduled.runId);
  await world.follow(failed.runId);
  expect((await world.look(failed.payableId)).phase).toBe("parked");
  expect((await world.holds()).filter(({ scope }) => scope === "source")).toEqual([]);
  expect(await callBack(world, cancels)).toBe("none");
  expect(await world.paymentsOf(scheduled.payableId)).toMatchObject([{ status: "scheduled" }]);
});

test("a bill that was called back and is paid outside Payrun before its account is released ends in its run", async ({
  world,
  cancels,
}) => {
  await world.failurePlaybook(CALLS_BACK);
  const { scheduled } = await failedAndScheduled(world, "R01");
  const { runId, payableId } = scheduled;
  expect(await callBack(world, cancels)).toBe("cancelled");
  await world.follow(runId);
  expect((await world.line(runId, payableId)).state).toBe("on-hold");
  await world.control.payOutside(payableId);
  await world.follow(runId);
  expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
  expect((await world.assess(runId)).ended).toBe(true);
});

test("without onIncident, people get the list, the cut-off and the command, and nothing is cancelled", async ({
  world,
  cancels,
}) => {
  const { scheduled } = await failedAndScheduled(world, "R29");
  expect(await incidentNotice(world)).toMatch(
    /- .*\$100\.00, runs on [^]*To cancel them: payrun stop --source bank_main --cancel-scheduled --reason/,
  );
  expect(await callBack(world, cancels)).toBe("none");
  expect(await world.paymentsOf(scheduled.payableId)).toMatchObject([{ status: "scheduled" }]);
});

test("bills that a person has called back from the account wait with its incident too", async ({
  world,
  cancels,
}) => {
  const { scheduled } = await failedAndScheduled(world, "R29");
  const { store, temporal } = world.context();
  const context = { store, temporal, nowMs: Date.now };
  const { hold, cancellationId } = await stop(context, world.world.profile, {
    target: { scope: "source", value: "bank_main" },
    thing: undefined,
    reason: "its payments came back",
    author: "olga",
    cancelScheduled: true,
  });
  await choosePayments(world.context(), cancellationId ?? "");
  await cancels.turns(cancellationId ?? "");
  const { runId, payableId } = scheduled;
  await world.follow(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "on-hold" });
  await world.decideIncident("bank_main", "released");
  await world.store.transaction((trx) => releaseHold(trx, hold.holdId, "olga", Date.now()));
  await world.pay(runId);
  expect(await world.paymentsOf(payableId)).toHaveLength(2);
});

test("a bounced bill whose new payment is called back waits with the incident, and is tried again after it", async ({
  world,
  cancels,
}) => {
  await world.failurePlaybook(CALLS_BACK);
  const { failed: again, scheduled: second } = await failedAndScheduled(world, "R01");
  await world.decideIncident("bank_main", "released");
  const { payableId } = again;
  const match = { payableId: second.payableId };
  await world.control.outcome({ match, outcome: "fail", code: "R01", times: 1 });
  await world.control.advance("P9D");
  expect((await world.payAgain(payableId)).phase).toBe("following");
  await world.follow(second.runId);
  expect((await world.look(second.payableId)).waitingFor).toMatch(/one decision/);
  expect(await callBack(world, cancels)).toBe("cancelled");
  expect((await world.look(payableId)).waitingFor).toMatch(/one decision/);
  await world.decideIncident("bank_main", "released");
  expect((await world.payAgain(payableId)).phase).toBe("following");
  expect((await world.paymentsOf(payableId)).map(({ status }) => status).toSorted()).toEqual([
    "cancelled",
    "failed",
    "scheduled",
  ]);
});
