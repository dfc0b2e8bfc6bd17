import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoldBody, ReleaseBody, StopBody, StopPreviewBody } from "../../src/api/holds.ts";
import { UnderWayBody } from "../../src/api/under-way.ts";
import { addDays } from "../../src/domain/clock/dates.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { activeHolds, createHold } from "../../src/store/holds/holds.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { insertCancellation } from "../../src/store/cancellations/cancellations.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { startTestGateway, type TestGateway } from "./support/gateway.ts";
import { approveLines, planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const SOON = addDays(newYorkDate(Date.now()), 3);
const PAST = addDays(newYorkDate(Date.now()), -1);

let gateway: TestGateway;
let run: SeededRun;
let operator: string;
let controller: string;

beforeEach(async () => {
  gateway = await startTestGateway();
  const { store } = gateway;
  const vendor = { contactId: "con_osprey", contactName: "Osprey Robotics" };
  run = await seedRun(store, {
    lines: [
      planLine("p1", { ...vendor, amountCents: 11_100 }),
      planLine("p2", { ...vendor, amountCents: 22_200 }),
      planLine("p3", { amountCents: 33_300, totalCents: 33_300, executionDate: SOON }),
      planLine("p4", { amountCents: 44_400, executionDate: PAST }),
      planLine("p5", { amountCents: 55_500 }),
    ],
  });
  await setLine(store, run.runId, "p3", { state: "scheduled", paymentIds: ["pmt_3"] });
  await setLine(store, run.runId, "p4", { state: "scheduled", paymentIds: ["pmt_4"] });
  await setLine(store, run.runId, "p5", { state: "paying" });
  operator = await gateway.token("oli", ["operator"]);
  controller = await gateway.token("cora", ["controller"]);
});
afterEach(() => gateway.stop());

async function inForce(): Promise<string[]> {
  const holds = await activeHolds(gateway.store.db, "biz_acme", Date.now());
  return holds.map(({ scope, value }) => (scope === "all" ? scope : `${scope} ${value}`));
}

/** Approved bills that wait for nothing but the holds on them. */
async function onHold(payableIds: readonly string[]): Promise<void> {
  await approveLines(gateway.store, run, payableIds);
  for (const id of payableIds) await setLine(gateway.store, run.runId, id, { state: "on-hold" });
}

/** A cancel that somebody has asked for, with the holds that it has set. */
async function cancelledBy(requestedBy: string, payableIds: readonly string[]): Promise<void> {
  const { store } = gateway;
  const workflowId = `cancel-scheduled-payments/acme/${requestedBy}`;
  const of = { businessId: "biz_acme", nowMs: Date.now() };
  await insertCancellation(store.db, {
    ...{ ...of, business: "acme", playbook: "", runId: null, workflowId, requestedBy },
    ...{ policy: cancelOfPayments(["pmt_3"]), reason: "wrong" },
  });
  for (const value of payableIds) {
    const hold = {
      ...of,
      scope: "payable",
      value,
      author: workflowId,
      reason: "cancelled",
    } as const;
    await store.transaction((trx) => createHold(trx, hold));
  }
}

test("a release doesn't say that a bill goes out whose day has passed and that is asked about again", async () => {
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

describe("a hold says what it holds", () => {
  test("with its vendor, its bills and their sum, and what is with the service with the next command", async () => {
    const vendor = ["hold", "--contact", "osprey robotics", "--reason", "odd"];
    const held = await typed(gateway, controller, vendor);
    expect(held.code).toBe(0);
    expect(held.stdout).toContain("on hold: every bill of Osprey Robotics");
    expect(held.stdout).toContain("2 bills, $333.00, kept back");
    const one = await typed(gateway, operator, ["hold", "BILL-p3", "--reason", "odd"]);
    expect(one.stdout).toContain("Vendor of p3 BILL-p3, $333.00");
    expect(one.stdout).toContain("1 bill, $333.00, with the service, which can still cancel");
    expect(one.stdout).toMatch(
      /payrun cancel-scheduled BILL-p3 .* takes it back; only an operator or an administrator may\./,
    );
    const listed = await typed(gateway, operator, ["holds"]);
    expect(listed.stdout).toMatch(/every bill of Osprey Robotics +cora/);
    expect(listed.stdout).toMatch(/Vendor of p3 BILL-p3/);
    const json = await typed(gateway, operator, ["holds", "--json"]);
    const items = json.json<{ items: unknown[] }>().items;
    expect(items[1]).toMatchObject({ value: "con_osprey", name: "Osprey Robotics" });
    expect(items[0]).toMatchObject({ value: "p3", number: "BILL-p3", name: "Vendor of p3" });
    const gone = await typed(gateway, operator, ["hold", "BILL-p4", "--reason", "odd"]);
    expect(gone.stdout).toContain("with the bank");
    expect(gone.stdout).not.toContain("takes it back");
  });

  test("with what is paid again after a failure: kept back until its new payment is made, and then cancelled", async () => {
    const { store } = gateway;
    const retried = { state: "retrying", paymentIds: ["pmt_4"], attempts: 1 } as const;
    await setLine(store, run.runId, "p4", retried);
    const key = { businessId: "biz_acme", payableId: "p4" };
    await upsertRetry(store.db, {
      ...{ ...key, business: "acme", runId: run.runId, nowMs: 1 },
      workflowId: retryFailedPaymentId("acme", "p4"),
    });
    const handled = { phase: "waiting", handledPaymentIds: ["pmt_4"] } as const;
    await updateRetry(store.db, key, handled, 2);
    const held = async () => {
      const { stdout } = await typed(gateway, operator, ["hold", "BILL-p4", "--reason", "odd"]);
      return stdout;
    };
    expect(await held()).toContain("1 bill, $444.00, kept back");
    const underWay = async () =>
      UnderWayBody.parse((await gateway.call("GET", "/v1/under-way", controller)).json);
    expect((await underWay()).items.map(({ payableId }) => payableId)).toEqual(["p3"]);
    const again = { executionDate: SOON, paymentIds: ["pmt_4", "pmt_5"], attempts: 2 };
    await setLine(store, run.runId, "p4", { ...retried, ...again });
    expect(await held()).toContain("1 bill, $444.00, with the service, which can still cancel");
    expect((await underWay()).items).toContainEqual(
      expect.objectContaining({ payableId: "p4", paymentIds: ["pmt_5"] }),
    );
  });

  test("with when it ends by itself, to the minute", async () => {
    const args = ["hold", "BILL-p3", "--until", "12h", "--reason", "odd"];
    const { stdout } = await typed(gateway, operator, args);
    const time = /[A-Z][a-z]{2}, [A-Z][a-z]{2} \d+, \d+:\d{2} [AP]M New York/;
    expect(stdout).toMatch(new RegExp(`it ends ${time.source}; .*payrun release hold_`));
    expect((await typed(gateway, operator, ["holds"])).stdout).toMatch(time);
  });

  test("also to an approver, and to nobody who neither operates nor approves", async () => {
    const body = { all: true, reason: "odd" };
    const viewer = await gateway.token("vera", ["viewer", "launcher"]);
    expect((await gateway.call("POST", "/v1/holds", viewer, body)).status).toBe(403);
    const answer = await gateway.call("POST", "/v1/holds", controller, body);
    expect(answer.status).toBe(201);
    expect(HoldBody.parse(answer.json)).toMatchObject({
      author: "cora",
      holds: {
        waiting: { bills: 2, totalCents: 33_300 },
        recallable: { bills: 1, totalCents: 33_300 },
        underWay: { bills: 1, totalCents: 55_500 },
        gone: { bills: 1, totalCents: 44_400 },
      },
    });
  });
});

describe("payrun stop", () => {
  test("holds everything with one hold, and says what can still be taken back and until when", async () => {
    const off = await typed(gateway, controller, ["stop", "--reason", "fraud?"]);
    expect(off).toMatchObject({ code: 2 });
    expect(off.stderr).toContain("--yes");
    expect(await inForce()).toEqual([]);
    const stopped = await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    expect(stopped.code).toBe(0);
    expect(await inForce()).toEqual(["all"]);
    expect(stopped.stdout).toContain("2 bills, $333.00, kept back");
    expect(stopped.stdout).toMatch(
      /1 bill, \$333\.00, with the service.* until .*8:55 AM New York/,
    );
    expect(stopped.stdout).toContain("1 bill, $444.00, with the bank, or split");
    expect(stopped.stdout).toContain("payrun stop --cancel-scheduled");
    expect(stopped.stdout).toContain("payrun release --all --by cora");
  });

  test.each([
    [["--run", "weekly"], `run pay-run/acme/weekly/2026-11-20`],
    [["--source", "balance"], "source balance"],
    [["--contact", "Osprey Robotics"], "contact con_osprey"],
  ])("stops only what %j names", async (args, hold) => {
    const stop = ["stop", ...args, "--reason", "fraud?", "--yes"];
    expect(await typed(gateway, controller, stop)).toMatchObject({ code: 0 });
    expect(await inForce()).toEqual([hold]);
  });

  test("asks for the cancels as well, under the same hold, also while Temporal is away", async () => {
    const stop = ["stop", "--cancel-scheduled", "--reason", "fraud?", "--yes", "--timeout", "1s"];
    const stopped = await typed(gateway, controller, [...stop, "--json"]);
    // What goes on is waited for.
    expect(stopped.code).toBe(3);
    const { hold, cancellation } = StopBody.parse(stopped.json());
    expect(cancellation).toMatchObject({ phase: "choosing", launchedBy: "cora" });
    const { policy } = await gateway.store.db
      .selectFrom("cancellations")
      .select("policy")
      .executeTakeFirstOrThrow();
    expect(JSON.parse(policy)).toMatchObject({ holdId: hold.id });
    expect(await inForce()).toEqual(["all"]);
  });

  test("is refused for what nobody knows, and to whoever may not hold", async () => {
    const stop = (...args: readonly string[]) =>
      typed(gateway, controller, ["stop", ...args, "--reason", "x", "--yes"]);
    expect(await stop("--run", "never/2026-01-01")).toMatchObject({ code: 2 });
    expect(await stop("--run", "weekly", "--contact", "Osprey Robotics")).toMatchObject({
      code: 2,
    });
    const launcher = await gateway.token("lou", ["launcher"]);
    const body = { reason: "x" };
    expect((await gateway.call("POST", "/v1/stops", launcher, body)).status).toBe(403);
    expect(await inForce()).toEqual([]);
  });

  test("can be asked what it would come to, which stops nothing", async () => {
    const path = "/v1/stops?contactId=con_osprey";
    const preview = StopPreviewBody.parse((await gateway.call("GET", path, controller)).json);
    expect(preview.holds.waiting).toEqual({ bills: 2, totalCents: 33_300 });
    expect(await inForce()).toEqual([]);
    const two = await gateway.call("GET", `${path}&source=balance`, controller);
    expect(two.status).toBe(422);
  });
});

test("a bill that the service has split can't be called back, and is nowhere said to be", async () => {
  const split = { state: "scheduled", paymentIds: ["pmt_3", "pmt_4"], attempts: 1 } as const;
  await setLine(gateway.store, run.runId, "p3", split);
  const stopped = await typed(gateway, operator, ["stop", "--reason", "odd", "--yes"]);
  expect(stopped.stdout).not.toContain("can still cancel");
  expect(stopped.stdout).toContain(
    "2 bills, $777.00, with the bank, or split into several payments: can't be cancelled",
  );
  const left = await gateway.call("GET", "/v1/under-way", operator);
  expect(left.json).toMatchObject({ recallable: { count: 0 }, beyond: { count: 3 }, items: [] });
  // A second try leaves the failed payment's id beside its own.
  await setLine(gateway.store, run.runId, "p3", { ...split, attempts: 2 });
  const again = await gateway.call("GET", "/v1/under-way", operator);
  expect(again.json).toMatchObject({ recallable: { count: 1 }, items: [{ payableId: "p3" }] });
});

test("a held payment can be called back after its day as well, wherever that is said", async () => {
  await setLine(gateway.store, run.runId, "p4", { state: "held", paymentIds: ["pmt_4"] });
  const answer = await gateway.call("GET", "/v1/under-way", controller);
  const { recallable, beyond, items, nextPage } = UnderWayBody.parse(answer.json);
  expect(recallable).toEqual({ count: 2, cents: 77_700 });
  expect(beyond).toEqual({ count: 1, cents: 55_500 });
  expect(nextPage).toBeNull();
  expect(items.map(({ payableId, recallBy }) => [payableId, recallBy !== null])).toEqual([
    ["p4", false],
    ["p3", true],
  ]);
  const { holds } = StopPreviewBody.parse(
    (await gateway.call("GET", "/v1/stops", controller)).json,
  );
  expect(holds.recallable).toMatchObject({ bills: 2, totalCents: 77_700 });
});

describe("a release says what goes out because of it", () => {
  test("one hold, with the approved bills that nothing else keeps back", async () => {
    await onHold(["p1", "p2"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "odd"]);
    await typed(gateway, operator, ["hold", "--contact", "Osprey Robotics", "--reason", "odd"]);
    const first = await typed(gateway, operator, ["release", "osprey robotics"]);
    expect(first.stdout).toContain("1 bill, $111.00, goes out now:");
    expect(first.stdout).toContain("Osprey Robotics BILL-p1, $111.00");
    await setLine(gateway.store, run.runId, "p1", { state: "scheduled" });
    const second = await typed(gateway, operator, ["release", "BILL-p2"]);
    expect(second.stdout).toContain("1 bill, $222.00, goes out now:");
    expect(await inForce()).toEqual([]);
  });

  test("a bill that nobody has approved doesn't", async () => {
    await setLine(gateway.store, run.runId, "p1", { state: "on-hold" });
    await typed(gateway, operator, ["hold", "BILL-p1", "--reason", "odd"]);
    const { stdout } = await typed(gateway, operator, ["release", "BILL-p1"]);
    expect(stdout).toContain("nothing goes out because of it");
  });

  test("all holds of one person, those of their cancels too, and of nobody else", async () => {
    await onHold(["p1", "p2"]);
    const { store } = gateway;
    await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    await typed(gateway, controller, ["hold", "BILL-p1", "--reason", "odd"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "mine"]);
    await cancelledBy("cora", ["p3"]);
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
    // The operator's own hold keeps the other one back.
    expect(release.goesOut).toMatchObject({ bills: 1, totalCents: 11_100 });
    expect((await inForce()).toSorted()).toEqual(["payable p2", "payable p5"]);
    const nobody = await typed(gateway, operator, ["release", "--all", "--by", "nora", "--yes"]);
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain("by Cora, oli");
  });

  test("of a restored store says until when nothing goes out, and that nothing is paid again", async () => {
    await onHold(["p1", "p2"]);
    const { store } = gateway;
    const loss = { businessId: "biz_acme", evidence: "a test", hadItAtMs: 1, serviceMs: null };
    await store.transaction((trx) => holdForLoss(trx, loss));
    const [hold] = await activeHolds(store.db, "biz_acme", Date.now());
    const { stdout } = await typed(gateway, operator, ["release", hold?.holdId ?? ""]);
    expect(stdout).toMatch(/2 bills, \$333\.00, go out after \w+, .* New York:/);
    expect(stdout).toContain("what was paid meanwhile shows by then, and is not paid again");
  });

  test("an approver ends their own stop, and nobody else's", async () => {
    await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    await typed(gateway, operator, ["hold", "BILL-p2", "--reason", "mine"]);
    const theirs = ["release", "--all", "--by", "oli", "--yes"];
    expect(await typed(gateway, controller, theirs)).toMatchObject({ code: 1 });
    const single = await typed(gateway, controller, ["release", "BILL-p2"]);
    expect(single.code).toBe(1);
    expect(single.stderr).toContain("has controller. oli, who has set it, may as well.");
    const own = ["release", "--all", "--by", "cora", "--yes"];
    expect(await typed(gateway, controller, own)).toMatchObject({ code: 0 });
    expect(await inForce()).toEqual(["payable p2"]);
  });

  test("an approver ends their own stop with what it has cancelled, and no other cancel's", async () => {
    await cancelledBy("cora", ["p3", "p5"]);
    await cancelledBy("oli", ["p4"]);
    expect((await typed(gateway, controller, ["release", "BILL-p4"])).code).toBe(1);
    expect((await typed(gateway, controller, ["release", "BILL-p5"])).code).toBe(0);
    const own = ["release", "--all", "--by", "cora", "--yes"];
    const { code, stdout } = await typed(gateway, controller, own);
    expect({ code, inForce: await inForce() }).toEqual({ code: 0, inForce: ["payable p4"] });
    expect(stdout).not.toContain("kept");
  });
});
