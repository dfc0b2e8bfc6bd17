import { expect } from "vitest";
import type { ApprovalRule, PayRunPlaybook, SumPer } from "../../src/contracts/playbook.ts";
import { MoneyWorld } from "../activities/money-world.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";
import { REVIEWED, test } from "./planned-scene.ts";

const NO_LIMITS = REVIEWED.limits;
const rule = { review: false, overCents: null, where: null, quorum: 1 };

/** The owner approves what is above $250; a controller approves the rest. */
function policy(overPer?: SumPer, changes: Partial<PayRunPlaybook> = {}): PayRunPlaybook {
  const large: ApprovalRule = {
    ...{ ...rule, overCents: 250_00, by: ["owner"] },
    ...(overPer === undefined ? {} : { overPer }),
  };
  const approve = [large, { ...rule, by: ["controller"] }];
  return payRunPlaybook({ select: { due: "all" }, review: [], approve, ...changes });
}

test("a large bill in three parts needs the owner for each of them, and its limit stops each", async ({
  planning,
  scene,
}) => {
  const cora = await scene.gateway.token("Cora", ["controller"]);
  const world = new MoneyWorld(planning);
  const big = await scene.enter({ totalAmountCents: 720_00 });
  for (let part = 1; part <= 3; part += 1) {
    const runId = await scene.plan(policy(), [big], 240_00);
    expect((await scene.decide(runId, cora)).json["error"]).toBe("role_missing");
    await world.pay(runId);
    await scene.cancel(runId);
  }
  const limited = policy(undefined, { limits: { ...NO_LIMITS, billCents: 500_00 } });
  const runId = await scene.plan(limited, [big], 240_00);
  expect((await scene.line(runId, big)).line.reasonCode).toBe("over_bill_limit");
  expect(await world.paymentsOf(big)).toEqual([]);
});

test("three bills just below an amount need the approval above it, and are flagged where that is reviewed", async ({
  scene,
}) => {
  const cora = await scene.gateway.token("Cora", ["controller"]);
  const bills = [];
  for (let no = 1; no <= 3; no += 1) bills.push(await scene.enter({ totalAmountCents: 245_00 }));
  for (const per of ["vendor", "vendor-week"] as const) {
    const runId = await scene.plan(policy(per));
    expect((await scene.decide(runId, cora)).json["error"]).toBe("role_missing");
    await scene.cancel(runId);
  }
  // One by one, each run knows of what the others are about to pay.
  const review = ["split-below-limit"] as const;
  for (const [index, id] of bills.entries()) {
    const flag = await scene.flag(
      await scene.plan(policy(undefined, { review }), [id]),
      id,
      "split-below-limit",
    );
    if (index === 0) expect(flag).toBeUndefined();
    else expect(flag?.text).toContain(`comes to $${(245 * (index + 1)).toString()}.00`);
  }
});

test("runs that are approved one by one and paid at the same moment don't pass the amount together", async ({
  planning,
  scene,
}) => {
  const cora = await scene.gateway.token("Cora", ["controller"]);
  const world = new MoneyWorld(planning);
  const runs: string[] = [];
  const bills: string[] = [];
  for (let no = 1; no <= 3; no += 1) {
    const id = await scene.enter({ totalAmountCents: 120_00 });
    const runId = await scene.plan(policy("vendor-week"), [id]);
    expect((await scene.decide(runId, cora)).status).toBe(200);
    runs.push(runId);
    bills.push(id);
  }
  await Promise.all(runs.map((runId) => world.pay(runId)));
  const paid = await Promise.all(bills.map((id) => world.paymentsOf(id)));
  expect(paid.flat()).toHaveLength(2);
  const asks = runs[paid.findIndex((payments) => payments.length === 0)] ?? "";
  expect((await scene.decide(asks, cora)).json["error"]).toBe("role_missing");
  expect((await scene.decide(asks, await scene.gateway.token("Olga", ["owner"]))).status).toBe(200);
  await world.pay(asks);
  expect((await Promise.all(bills.map((id) => world.paymentsOf(id)))).flat()).toHaveLength(3);
});

test("a lax playbook pays no more in a week than the business's profile allows", async ({
  planning,
  scene,
}) => {
  const cora = await scene.gateway.token("Cora", ["controller"]);
  const world = new MoneyWorld(planning);
  const lax = policy(undefined, { limits: { ...NO_LIMITS, vendorPerWeekCents: 100_000_00 } });
  const bills = [
    await scene.enter({ totalAmountCents: 200_00 }),
    await scene.enter({ totalAmountCents: 200_00 }),
  ];
  const runs = await Promise.all(bills.map((id) => scene.plan(lax, [id])));
  for (const runId of runs) expect((await scene.decide(runId, cora)).status).toBe(200);
  // Set after both were planned and approved.
  world.limits = { ...NO_LIMITS, vendorPerWeekCents: 300_00 };
  for (const runId of runs) await world.pay(runId);
  const paid = (await Promise.all(bills.map((id) => world.paymentsOf(id)))).flat();
  expect(paid).toHaveLength(1);
});

test("a part of a bill needs the rule whose condition all that is owed meets", async ({
  scene,
}) => {
  const large = { ...rule, where: "payable.amountCents > 25000", by: ["owner"] };
  const approve = [large, { ...rule, by: ["controller"] }];
  const bill = await scene.enter({ totalAmountCents: 720_00 });
  const runId = await scene.plan(policy(undefined, { approve }), [bill], 240_00);
  const { plan } = await scene.line(runId, bill);
  expect(plan).toMatchObject({ amountCents: 240_00, approvers: ["owner"] });
});
