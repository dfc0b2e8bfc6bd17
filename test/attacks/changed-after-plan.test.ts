import { expect } from "vitest";
import { MoneyWorld } from "../activities/money-world.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";
import type { Json } from "../support/sandbox.ts";
import { inDays } from "../activities/planning-world.ts";
import { test } from "./planned-scene.ts";

/** Flagged bills need the owner, all others the controller. */
const BY_FLAG = payRunPlaybook({
  select: { due: "all" },
  review: ["new-vendor", "changed-bank-account", "likely-duplicate", "unusual-amount"],
  approve: [
    { review: true, overCents: null, where: null, by: ["owner"], quorum: 1 },
    { review: false, overCents: null, where: null, by: ["controller"], quorum: 1 },
  ],
});

test.for([
  ["is far more than its vendor's usual amount", { totalAmountCents: 910_000 }],
  ["is of another vendor, with an account that ends alike", { contactId: "v2" }],
  ["has the amount of another bill", { totalAmountCents: 12_000 }],
  ["is smaller than before", { totalAmountCents: 5_000 }],
] as const)(
  "a bill that %s once it was planned needs the people who look at flagged bills",
  async ([, change], { planning, scene }) => {
    const world = new MoneyWorld(planning);
    const { control } = scene.world.sandbox;
    await control.changeContact("v2", { bankAccount: { accountNumber: "000000001111" } });
    const controller = await scene.gateway.token("Cora", ["controller"]);
    const owner = await scene.gateway.token("Olga", ["owner"]);
    const before = await scene.enter({ totalAmountCents: 10_000 });
    const first = await scene.plan(BY_FLAG, [before]);
    await scene.decide(first, owner);
    await world.pay(first);
    await control.advance("P20D");
    await world.follow(first);

    const terms = { totalAmountCents: 9_900, customNumber: "B-2", dueDate: inDays(40) };
    const bill = await scene.enter(terms);
    const runId = await scene.plan(BY_FLAG, [bill]);
    expect((await scene.line(runId, bill)).plan).toMatchObject({
      flags: [],
      approvers: ["controller"],
    });
    await scene.decide(runId, controller);
    await control.changePayable(bill, change as Json);
    await world.pay(runId);
    const { plan } = await scene.line(runId, bill);
    expect(plan.approvers).toEqual(["owner"]);
    expect(plan.flags.map(({ kind }) => kind)).toEqual(["changed-since-plan"]);
    await scene.decide(runId, controller);
    await world.pay(runId);
    expect(await world.paymentsOf(bill)).toEqual([]);
    await scene.decide(runId, owner);
    await world.pay(runId);
    expect(await world.paymentsOf(bill)).toHaveLength(1);
  },
);
