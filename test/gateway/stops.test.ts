import { describe, expect } from "vitest";
import { HoldBody, StopBody, StopPreviewBody } from "../../src/api/holds.ts";
import { UnderWayBody } from "../../src/api/under-way.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { signedIn } from "../console/support/visits.ts";
import { setLine } from "./support/rows.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { typed } from "./support/typed.ts";

import { inForce, seedPayingRun, SOON } from "./support/paying-run.ts";

const test = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) => seedPayingRun(gateway.store))
  .extend("operator", ({ gateway }) => gateway.token("oli", ["operator"]))
  .extend("controller", ({ gateway }) => gateway.token("cora", ["controller"]));

describe("a hold says what it holds", () => {
  test("a hold names its vendor, bills and sum, and the command that recalls what is with the service", async ({
    gateway,
    operator,
    controller,
  }) => {
    const vendor = ["hold", "--contact", "osprey robotics", "--reason", "odd"];
    const held = await typed(gateway, controller, vendor);
    expect(held.code).toBe(0);
    expect(held.stdout).toContain("on hold: every bill of Osprey Robotics");
    expect(held.stdout).toContain("2 bills, $333.00, on hold");
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

  test.for<[string[], RegExp]>([
    [["--all"], /payrun stop --cancel-scheduled --reason … takes 2 of the 3 back\./],
    [["--run", "weekly"], /payrun stop --run \S+ --cancel-scheduled .* takes 2 of the 3 back\./],
    [["--source", "balance"], /payrun stop --source \S+ --cancel-scheduled .* takes 2 of the 3/],
    [
      ["--playbook", "weekly"],
      /payrun stop --cancel-scheduled .* 2 of the 3 back, with what other/,
    ],
    [["--contact", "vendor of p3"], /payrun stop --contact "Vendor of p3" --cancel-scheduled /],
  ])(
    "a hold on %j names the command that recalls the payments it came too late for",
    async ([of, command], { gateway, operator }) => {
      const held = await typed(gateway, operator, ["hold", ...of, "--reason", "odd"]);
      expect(held.stdout).toMatch(command);
      expect(held.stdout).not.toContain("everything.");
    },
  );

  test("a hold says that a command recalls all payments if all can be recalled", async ({
    gateway,
    run,
    operator,
  }) => {
    await setLine(gateway.store, run.runId, "p4", { state: "settled" });
    const all = await typed(gateway, operator, ["hold", "--all", "--reason", "odd"]);
    expect(all.stdout).toMatch(
      /2 of its bills .* payrun stop --cancel-scheduled .* takes them back\./,
    );
  });

  test("a hold says that nothing is put on hold of bills that are already paid", async ({
    gateway,
    run,
    operator,
  }) => {
    const { store } = gateway;
    for (const bill of ["p1", "p2", "p3", "p4", "p5"])
      await setLine(store, run.runId, bill, { state: "settled", paymentIds: [`pmt_${bill}`] });
    const said = async (...of: string[]) =>
      (await typed(gateway, operator, ["hold", ...of, "--reason", "odd"])).stdout;
    const bill = await said("BILL-p3");
    expect(bill).toContain("no bill on hold");
    expect(bill).toContain("1 bill, $333.00, paid already");
    expect(await said("--run", "weekly")).toContain("5 bills, $1,665.00, paid already");
    const vendor = await said("--contact", "osprey robotics");
    expect(vendor).toContain("no bill on hold: none of it waits to be paid now");
    for (const text of [bill, vendor]) expect(text).not.toContain(", on hold");
  });

  test("a hold is on a retried bill until its new payment is made, and can then be recalled", async ({
    gateway,
    run,
    operator,
    controller,
  }) => {
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
    expect(await held()).toContain("1 bill, $444.00, on hold");
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

  test("a hold says when it ends by itself, to the minute", async ({ gateway, operator }) => {
    const args = ["hold", "BILL-p3", "--until", "12h", "--reason", "odd"];
    const { stdout } = await typed(gateway, operator, args);
    const time = /[A-Z][a-z]{2}, [A-Z][a-z]{2} \d+, \d+:\d{2} [AP]M New York/;
    expect(stdout).toMatch(new RegExp(`it ends ${time.source}; .*payrun release hold_`));
    expect((await typed(gateway, operator, ["holds"])).stdout).toMatch(time);
  });

  test("operators and approvers may set holds and see what they hold, others may not", async ({
    gateway,
    controller,
  }) => {
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

test("the list of runs begins with the holds on everything and on accounts", async ({
  gateway,
  controller,
}) => {
  const list = async () => (await typed(gateway, controller, ["status"])).stdout;
  expect(await list()).not.toContain("on hold:");
  await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
  await typed(gateway, controller, ["hold", "--source", "balance", "--reason", "odd debits"]);
  const lines = (await list()).split("\n");
  expect(lines[0]).toMatch(/^! Everything of acme is on hold: fraud\? \(cora, .* New York\)/);
  expect(lines[1]).toMatch(/^! Account Balance of acme is on hold: odd debits \(cora, /);
});

test("the list of runs ends with problems and what to do about them", async ({
  gateway,
  controller,
}) => {
  const { code, stderr } = await typed(gateway, controller, ["status"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/✗ no worker has been heard from\n +.*payrun worker/);
  expect(stderr).toMatch(
    /! nobody at acme is notified of anything.*\n +Add a channel under notify:/,
  );
});

describe("payrun stop", () => {
  test("a stop sets one hold on everything, and says what can be recalled and until when", async ({
    gateway,
    controller,
  }) => {
    const off = await typed(gateway, controller, ["stop", "--reason", "fraud?"]);
    expect(off).toMatchObject({ code: 2 });
    expect(off.stderr).toContain("--yes");
    expect(await inForce(gateway)).toEqual([]);
    const stopped = await typed(gateway, controller, ["stop", "--reason", "fraud?", "--yes"]);
    expect(stopped.code).toBe(0);
    expect(await inForce(gateway)).toEqual(["all"]);
    expect(stopped.stdout).toContain("2 bills, $333.00, on hold");
    expect(stopped.stdout).toMatch(
      /1 bill, \$333\.00, with the service, which can still cancel it until .*8:55 AM New York/,
    );
    expect(stopped.stdout).toContain("1 bill, $444.00, with the bank, or split");
    expect(stopped.stdout).toContain("payrun stop --cancel-scheduled");
    expect(stopped.stdout).toContain("payrun release --all --by cora");
  });

  test.for<[string[], string]>([
    [["--run", "weekly"], `run pay-run/acme/weekly/2026-11-20`],
    [["--source", "balance"], "source balance"],
    [["--contact", "Osprey Robotics"], "contact con_osprey"],
  ])("a stop holds only what %j names", async ([args, hold], { gateway, controller }) => {
    const stop = ["stop", ...args, "--reason", "fraud?", "--yes"];
    expect(await typed(gateway, controller, stop)).toMatchObject({ code: 0 });
    expect(await inForce(gateway)).toEqual([hold]);
  });

  test("a stop can request cancels under the same hold, even while Temporal is away", async ({
    gateway,
    controller,
  }) => {
    const stop = ["stop", "--cancel-scheduled", "--reason", "fraud?", "--yes", "--timeout", "1s"];
    const stopped = await typed(gateway, controller, [...stop, "--json"]);
    // The command waits for the cancellation and reports its progress.
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toMatch(/^choosing/m);
    const { hold, cancellation } = StopBody.parse(stopped.json());
    expect(cancellation).toMatchObject({ phase: "choosing", launchedBy: "cora" });
    const { policy } = await gateway.store.db
      .selectFrom("cancellations")
      .select("policy")
      .executeTakeFirstOrThrow();
    expect(JSON.parse(policy)).toMatchObject({ holdId: hold.id });
    expect(await inForce(gateway)).toEqual(["all"]);
  });

  test("a stop says how to release it, with the holds on the bills that it has cancelled", async ({
    gateway,
    controller,
  }) => {
    const rest = ["--reason", "fraud?", "--yes", "--timeout", "1s"];
    const lifts = async (...args: readonly string[]) =>
      (await typed(gateway, controller, ["stop", ...args, ...rest])).stdout.match(
        /payrun release.*/g,
      );
    const one = [expect.stringMatching(/^payrun release hold_\S+ lifts it, /)];
    expect(await lifts("--source", "balance")).toEqual(one);
    expect(await lifts("--cancel-scheduled")).toEqual(one);
    expect(await lifts("--source", "balance", "--cancel-scheduled")).toEqual([
      "payrun release --all --by cora lifts it, and the holds on the bills that it has cancelled",
    ]);
  });

  test("a stop in a restored store says that lost payments are not counted, even after the release", async ({
    gateway,
    operator,
    controller,
  }) => {
    const { store } = gateway;
    await noticeLoss(store);
    const [hold] = await activeHolds(store.db, "biz_acme", Date.now());
    const stop = ["stop", "--reason", "fraud?", "--yes"];
    const lost = "payments that it has lost are not counted";
    expect((await typed(gateway, controller, stop)).stdout).toContain(lost);
    await typed(gateway, operator, ["release", hold?.holdId ?? ""]);
    expect((await typed(gateway, controller, stop)).stdout).toContain(lost);
    const cora = await signedIn(gateway, "cora", ["controller"]);
    expect((await cora.get("/emergency")).text).toContain("payments that it has lost");
  });

  test("a stop of something unknown, or by a person who may not hold, is refused", async ({
    gateway,
    controller,
  }) => {
    const stop = (...args: readonly string[]) =>
      typed(gateway, controller, ["stop", ...args, "--reason", "x", "--yes"]);
    expect(await stop("--run", "never/2026-01-01")).toMatchObject({ code: 2 });
    expect(await stop("--run", "weekly", "--contact", "Osprey Robotics")).toMatchObject({
      code: 2,
    });
    const launcher = await gateway.token("lou", ["launcher"]);
    const body = { reason: "x" };
    expect((await gateway.call("POST", "/v1/stops", launcher, body)).status).toBe(403);
    for (const named of [{}, { all: false }, { all: true, run: "x" }, { run: "x", source: "y" }]) {
      const refused = await gateway.call("POST", "/v1/stops", controller, { ...body, ...named });
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringMatching(/all: true for everything|can only be true/),
      ]);
    }
    expect(await inForce(gateway)).toEqual([]);
  });

  test("a stop can be previewed without stopping anything", async ({ gateway, controller }) => {
    const path = "/v1/stops?contactId=con_osprey";
    const preview = StopPreviewBody.parse((await gateway.call("GET", path, controller)).json);
    expect(preview.holds.waiting).toEqual({ bills: 2, totalCents: 33_300 });
    expect(await inForce(gateway)).toEqual([]);
    const two = await gateway.call("GET", `${path}&source=balance`, controller);
    expect(two.status).toBe(422);
  });
});

test("a bill that the service has split can't be recalled, and is not reported as recallable", async ({
  gateway,
  run,
  operator,
}) => {
  const split = { state: "scheduled", paymentIds: ["pmt_3", "pmt_4"], attempts: 1 } as const;
  await setLine(gateway.store, run.runId, "p3", split);
  const stopped = await typed(gateway, operator, ["stop", "--reason", "odd", "--yes"]);
  expect(stopped.stdout).not.toContain("can still cancel");
  expect(stopped.stdout).toContain(
    "2 bills, $777.00, with the bank, or split into several payments: can't be cancelled",
  );
  const left = await gateway.call("GET", "/v1/under-way", operator);
  expect(left.json).toMatchObject({ recallable: { count: 0 }, beyond: { count: 3 }, items: [] });
  // After a second try the failed payment's id is listed beside the new one.
  await setLine(gateway.store, run.runId, "p3", { ...split, attempts: 2 });
  const again = await gateway.call("GET", "/v1/under-way", operator);
  expect(again.json).toMatchObject({ recallable: { count: 1 }, items: [{ payableId: "p3" }] });
});

test("a held payment can be recalled even after its day", async ({ gateway, run, controller }) => {
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
