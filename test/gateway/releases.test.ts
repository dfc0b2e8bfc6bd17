import { byWorkflow } from "../../src/contracts/authors.ts";
import { describe, expect } from "vitest";
import { ReleaseBody } from "../../src/api/holds.ts";
import { activeHolds, createHold } from "../../src/store/holds/holds.ts";
import { insertCancellation } from "../../src/store/cancellations/cancellations.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import type { TestGateway } from "./support/gateway.ts";
import { approveLines, setLine, type SeededRun } from "./support/rows.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { typed } from "./support/typed.ts";

import { inForce, PAST, seedPayingRun, SOON } from "./support/paying-run.ts";

const test = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) => seedPayingRun(gateway.store))
  .extend("operator", ({ gateway }) => gateway.token("oli", ["operator"]))
  .extend("controller", ({ gateway }) => gateway.token("cora", ["controller"]));

/** Approves bills and puts them on hold; they wait for nothing else. */
async function onHold(
  gateway: TestGateway,
  run: SeededRun,
  payableIds: readonly string[],
): Promise<void> {
  await approveLines(gateway.store, run, payableIds);
  for (const id of payableIds) await setLine(gateway.store, run.runId, id, { state: "on-hold" });
}

/** Requests a cancellation, with the holds that it has set. */
async function cancelledBy(
  gateway: TestGateway,
  requestedBy: string,
  payableIds: readonly string[],
): Promise<void> {
  const { store } = gateway;
  const workflowId = `cancel-scheduled-payments/acme/${requestedBy}`;
  const of = { businessId: "biz_acme", nowMs: Date.now() };
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{ ...of, business: "acme", playbook: "", runId: null, workflowId, requestedBy },
      ...{ policy: cancelOfPayments(["pmt_3"]), reason: "wrong" },
    }),
  );
  for (const value of payableIds) {
    const hold = {
      ...of,
      scope: "payable",
      value,
      author: byWorkflow(workflowId),
      reason: "cancelled",
    } as const;
    await store.transaction((trx) => createHold(trx, hold));
  }
}

test("release --all that releases no hold says which it kept, and nothing about bills", async ({
  gateway,
  run,
  operator,
}) => {
  await typed(gateway, operator, ["hold", "BILL-p5", "--reason", "odd"]);
  await setLine(gateway.store, run.runId, "p5", { state: "given-up" });
  const all = await typed(gateway, operator, ["release", "--all", "--by", "oli", "--yes"]);
  expect(all).toMatchObject({ code: 0, stdout: expect.stringMatching(/^– kept: [^\n]*\n$/) });
});

test("a release doesn't count a bill as going out whose day has passed and must be approved again", async ({
  gateway,
  run,
  controller,
}) => {
  const { store } = gateway;
  await approveLines(store, run, ["p4", "p3"]);
  const waiting = { state: "on-hold", executionDate: SOON } as const;
  await setLine(store, run.runId, "p3", waiting);
  await setLine(store, run.runId, "p4", { ...waiting, executionDate: PAST });
  const hold = await typed(gateway, controller, ["hold", "--run", run.runId, "--reason", "odd"]);
  expect(hold.code).toBe(0);
  const released = await typed(gateway, controller, ["release", run.runId]);
  expect(released.stdout).toContain("1 bill, $333.00, goes out now:");
  expect(released.stdout).toMatch(
    /1 bill of \$444\.00 moves to [A-Z][a-z]{2}, [A-Z][a-z]{2} \d+, because its day has passed, and an approval is asked for again/,
  );
  await typed(gateway, controller, ["hold", "BILL-p4", "--reason", "odd"]);
  const all = await typed(gateway, controller, ["release", "--all", "--by", "cora", "--yes"]);
  expect(all.stdout).toMatch(/1 bill of \$444\.00 moves to/);
  expect(all.stdout).not.toContain("out now");
});

test("releasing one of two holds on everything says that the other keeps everything on hold", async ({
  gateway,
  operator,
}) => {
  for (const reason of ["odd debits", "fraud?"])
    await typed(gateway, operator, ["hold", "--all", "--reason", reason]);
  const [one, other] = await activeHolds(gateway.store.db, "biz_acme", Date.now());
  const { stdout } = await typed(gateway, operator, ["release", one?.holdId ?? ""]);
  expect(stdout).toContain(`everything is still on hold: ${other?.holdId ?? "no other"}`);
});

describe("a release says what goes out", () => {
  test("releasing one hold names the approved bills that nothing else holds up", async ({
    gateway,
    run,
    operator,
  }) => {
    await onHold(gateway, run, ["p1", "p2"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "odd"]);
    await typed(gateway, operator, ["hold", "--contact", "Osprey Robotics", "--reason", "odd"]);
    const first = await typed(gateway, operator, ["release", "osprey robotics"]);
    expect(first.stdout).toContain("1 bill, $111.00, goes out now:");
    expect(first.stdout).toContain("Osprey Robotics BILL-p1, $111.00");
    await setLine(gateway.store, run.runId, "p1", { state: "scheduled" });
    const second = await typed(gateway, operator, ["release", "BILL-p2"]);
    expect(second.stdout).toContain("1 bill, $222.00, goes out now:");
    expect(await inForce(gateway)).toEqual([]);
  });

  test("a release doesn't count a bill that has no approval", async ({
    gateway,
    run,
    operator,
  }) => {
    await setLine(gateway.store, run.runId, "p1", { state: "on-hold" });
    await typed(gateway, operator, ["hold", "BILL-p1", "--reason", "odd"]);
    const { stdout } = await typed(gateway, operator, ["release", "BILL-p1"]);
    expect(stdout).toContain("nothing goes out because of it");
  });

  test("release --all --by releases all holds of one person and their cancels, and of nobody else", async ({
    gateway,
    run,
    operator,
    controller,
  }) => {
    await onHold(gateway, run, ["p1", "p2"]);
    const { store } = gateway;
    await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    await typed(gateway, controller, ["hold", "BILL-p1", "--reason", "odd"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "mine"]);
    await cancelledBy(gateway, "cora", ["p3"]);
    const of = { businessId: "biz_acme", reason: "cancelled", nowMs: Date.now() };
    await store.transaction((trx) =>
      createHold(trx, {
        ...{ ...of, scope: "payable", value: "p5", author: "Cora" },
        roles: ["owner"],
      }),
    );
    const off = await typed(gateway, operator, ["release", "--all", "--by", "cora"]);
    expect(off).toMatchObject({ code: 2 });
    const all = ["release", "--all", "--by", "CORA", "--yes"];
    const done = await typed(gateway, operator, [...all, "--json"]);
    const release = ReleaseBody.parse(done.json());
    expect(release.released.map(({ scope, value }) => `${scope} ${value}`).toSorted()).toEqual(
      ["all ", "payable p1", "payable p3"].toSorted(),
    );
    expect(release.kept).toMatchObject([{ hold: { value: "p5" }, roles: ["owner"] }]);
    // The operator's own hold is on p2.
    expect(release.goesOut).toMatchObject({ bills: 1, totalCents: 11_100 });
    expect((await inForce(gateway)).toSorted()).toEqual(["payable p2", "payable p5"]);
    const nobody = await typed(gateway, operator, ["release", "--all", "--by", "nora", "--yes"]);
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain("by Cora, oli");
  });

  test("a release in a restored store says until when nothing goes out, and that nothing is paid twice", async ({
    gateway,
    run,
    operator,
  }) => {
    await onHold(gateway, run, ["p1", "p2"]);
    const { store } = gateway;
    await noticeLoss(store);
    const [hold] = await activeHolds(store.db, "biz_acme", Date.now());
    const { stdout } = await typed(gateway, operator, ["release", hold?.holdId ?? ""]);
    expect(stdout).toMatch(/2 bills, \$333\.00, go out after \w+, .* New York:/);
    expect(stdout).toContain(
      "what was paid meanwhile is found before anything is sent, and is not paid again",
    );
  });

  test("an approver can release their own stop, and no other person's hold", async ({
    gateway,
    operator,
    controller,
  }) => {
    await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "mine"]);
    const theirs = ["release", "--all", "--by", "oli", "--yes"];
    expect(await typed(gateway, controller, theirs)).toMatchObject({ code: 1 });
    const single = await typed(gateway, controller, ["release", "BILL-p2"]);
    expect(single.code).toBe(1);
    expect(single.stderr).toContain("has controller. oli, who has set it, may as well.");
    const own = ["release", "--all", "--by", "cora", "--yes"];
    expect(await typed(gateway, controller, own)).toMatchObject({ code: 0 });
    expect(await inForce(gateway)).toEqual(["payable p2"]);
  });

  test("an approver can release the holds that their own cancel has set, and those of no other cancel", async ({
    gateway,
    controller,
  }) => {
    await cancelledBy(gateway, "cora", ["p3", "p5"]);
    await cancelledBy(gateway, "oli", ["p4"]);
    expect((await typed(gateway, controller, ["release", "BILL-p4"])).code).toBe(1);
    expect((await typed(gateway, controller, ["release", "BILL-p5"])).code).toBe(0);
    const own = ["release", "--all", "--by", "cora", "--yes"];
    const { code, stdout } = await typed(gateway, controller, own);
    expect({ code, inForce: await inForce(gateway) }).toEqual({ code: 0, inForce: ["payable p4"] });
    expect(stdout).not.toContain("kept");
  });
});
