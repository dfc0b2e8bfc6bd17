import { expect } from "vitest";
import type { PayRule } from "../../../src/contracts/playbook.ts";
import { getIncident } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { fundingIncidentId, retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { type MoneyWorld, type PlannedBills, test as moneyTest } from "../money-world.ts";
import { POLICY } from "../planning-world.ts";

const FROM_BANK: PayRule = { ...POLICY.pay, from: "bank_main" };
const ACCEPTED = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };

/** Without a stored playbook for failures, and with an accepted debit authorization. */
const test = moneyTest.extend("world", ({ world }) => {
  world.achAuthorization = ACCEPTED;
  return world;
});

/** Pays bills of the vendors on one day, which come back with these codes. */
async function returned(
  world: MoneyWorld,
  codes: readonly string[],
  pay = FROM_BANK,
): Promise<PlannedBills> {
  const vendors = codes.map((_, index) => ({ contactId: index === 0 ? "v1" : "v2" }));
  const planned = await world.approvedRun(vendors, { pay });
  for (const [index, code] of codes.entries()) {
    const match = { payableId: planned.payableIds[index] ?? "" };
    await world.control.outcome({ match, outcome: "fail", code, times: 1 });
  }
  await world.pay(planned.runId);
  await world.control.advance("P9D");
  await world.follow(planned.runId);
  return planned;
}

test.for(["R05", "R07", "R10", "R11", "R29"])(
  "one return with %s of our own account is one incident that holds it, without a stored playbook",
  async (code, { world }) => {
    const { runId, payableId } = await returned(world, [code]);
    expect(await world.look(payableId)).toMatchObject({
      phase: "waiting",
      waitingFor: expect.stringMatching(/one decision/),
    });
    expect(await world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);
    const notices = await listNotices(world.store.db, { kind: "incident", limit: 10 });
    expect(notices).toMatchObject([{ roles: ["operator"], data: { sourceId: "bank_main", code } }]);
    expect(world.told).toContain(fundingIncidentId("acme", "bank_main"));
    await world.decideIncident("bank_main", "released");
    expect(await world.look(payableId)).toMatchObject({ outcome: "left to the next run" });
    expect((await world.line(runId, payableId)).reason).toMatch(/new approval/);
  },
);

test("a second return of the account joins its incident, whatever its code", async ({ world }) => {
  const { payableIds } = await returned(world, ["R29", "R10"]);
  for (const payableId of payableIds) {
    expect((await world.look(payableId)).waitingFor).toMatch(/one decision/);
  }
  expect(await world.holds()).toHaveLength(1);
  expect(await world.incident("bank_main")).toMatchObject({
    soFar: "2 bills of $200.00 bounced (the first: R29)",
  });
});

test("a refused debit of a payment from the balance goes to a person and holds nothing", async ({
  world,
}) => {
  await world.failurePlaybook(
    "kind: retry-failed\nrules: [{ match: [R29], hold: vendor, by: [controller] }]\n",
  );
  const { payableId } = await returned(world, ["R29"], { ...POLICY.pay, from: "balance" });
  expect((await world.look(payableId)).phase).toBe("parked");
  expect(await world.holds()).toEqual([]);
});

test("the first stop payment of a day holds its bill and asks; the second holds the account for both", async ({
  world,
}) => {
  const { runId, payableIds } = await returned(world, ["R08", "R08"]);
  const [first = "", second = ""] = payableIds;
  expect((await world.look(first)).phase).toBe("parked");
  expect((await world.line(runId, first)).reason).toMatch(/this payment alone/);
  expect(await world.holds()).toMatchObject([{ scope: "payable", value: first }]);
  // Nothing more is known of it yet.
  expect((await world.look(first)).phase).toBe("parked");
  await world.takeSignals();
  expect((await world.look(second)).waitingFor).toMatch(/one decision/);
  expect(await world.takeSignals()).toContain(retryFailedPaymentId("acme", first));
  expect((await world.look(first)).waitingFor).toMatch(/one decision/);
  expect(await world.holds()).toMatchObject([{ scope: "source", value: "bank_main" }]);
});

test("after a return as not authorized nothing is debited from the account until the authorization is accepted anew", async ({
  world,
}) => {
  const { payableId } = await returned(world, ["R10"]);
  await world.look(payableId);
  await world.decideIncident("bank_main", "released");
  await world.look(payableId);
  const { revokedAtMs } = (await getIncident(world.store.db, world.businessId, "bank_main")) ?? {};
  expect(await world.incident("bank_main")).toMatchObject({ outcome: "released by carla" });
  const returnedAt = new Date(revokedAtMs ?? 0).toISOString();

  const refused = await world.approvedRun([{}], {
    pay: FROM_BANK,
  });
  world.achAuthorization = { ...ACCEPTED, acceptedAt: returnedAt };
  await world.pay(refused.runId);
  expect(await world.line(refused.runId, refused.payableId)).toMatchObject({
    ...{ state: "parked", reasonCode: "no_ach_authorization" },
    reason: expect.stringContaining(returnedAt),
  });
  expect(await world.paymentsOf(refused.payableId)).toEqual([]);

  const other = await world.approvedRun([{}], {
    pay: { ...POLICY.pay, from: "balance" },
  });
  await world.pay(other.runId);
  expect(await world.paymentsOf(other.payableId)).toHaveLength(1);

  const anew = new Date((revokedAtMs ?? 0) + 1_000).toISOString();
  world.achAuthorization = { ...ACCEPTED, acceptedAt: anew };
  const accepted = await world.approvedRun([{}], {
    pay: FROM_BANK,
  });
  await world.pay(accepted.runId);
  expect(await world.paymentsOf(accepted.payableId)).toHaveLength(1);
});
