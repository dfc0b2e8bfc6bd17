import { describe, expect } from "vitest";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { setLine } from "../gateway/support/rows.ts";
import { signedIn } from "./support/visits.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { inForce, weeklyTest as test } from "./support/weekly-run.ts";

describe("A stop", () => {
  const parts = [
    ["run", "weekly", "run pay-run/acme/weekly/2026-11-20"],
    ["vendor", "northwind freight", "contact con_4"],
    ["account", "balance", "source balance"],
  ] as const;
  test.for(parts)(
    "a stop of only a part, a %s called %s, first shows what it would stop",
    async ([kind, q, hold], { gateway }) => {
      const cora = await signedIn(gateway, "cora", ["controller"]);
      const look = await cora.get(`/emergency/stop?kind=${kind}&q=${encodeURIComponent(q)}`);
      expect(look.text).toMatch(/On hold \$[\d,.]+ \d+ bills/);
      expect(await inForce(gateway)).toEqual([]);
      expect((await cora.send(look, "/emergency/stop", { reason: "" })).status).toBe(422);
      const done = await cora.send(look, "/emergency/stop", { reason: "fraud?" });
      expect(done.text).toMatch(/is stopped/);
      expect(await inForce(gateway)).toEqual([`${hold} fraud? cora`]);
    },
  );

  test("a stop by an inexact name suggests the nearest one and stops nothing", async ({
    gateway,
    olga,
  }) => {
    const near = await olga.get("/emergency/stop?kind=vendor&q=Pinecrest");
    expect(near.text).toContain("No vendor is called “Pinecrest”.");
    expect(near.html).toContain("/emergency/stop?contactId=con_6");
    expect(await inForce(gateway)).toEqual([]);
  });

  test("a stop calls back payments at the service under the same hold, if that is ticked", async ({
    gateway,
    run,
    olga,
  }) => {
    await setRunPhase(gateway.store.db, run.runId, { phase: "paying" });
    const held = { state: "held", paymentIds: ["pay_1"] } as const;
    await setLine(gateway.store, run.runId, "pbl_0101", held);
    const asked = await olga.get("/emergency");
    const done = await olga.send(asked, "/emergency/stop", { reason: "odd debits", cancel: "yes" });
    expect(done.text).toContain("is being called back");
    const { policy } = await gateway.store.db
      .selectFrom("cancellations")
      .select("policy")
      .executeTakeFirstOrThrow();
    const [hold] = await activeHolds(gateway.store.db, "biz_acme", Date.now());
    expect(JSON.parse(policy)).toMatchObject({ holdId: hold?.holdId });
  });
});

test("the emergency page shows what can be called back, and cancels the ticked payments", async ({
  gateway,
  run,
  olga,
}) => {
  const today = newYorkDate(Date.now());
  await setRunPhase(gateway.store.db, run.runId, { phase: "paying" });
  const payment = { state: "scheduled", paymentIds: ["pay_1"] } as const;
  await setLine(gateway.store, run.runId, "pbl_0101", payment);
  await setLine(gateway.store, run.runId, "pbl_0102", { state: "processing" });
  await gateway.store.db
    .updateTable("run_lines")
    .set({ execution_date: `${Number(today.slice(0, 4)) + 1}-01-04` })
    .where("payable_id", "=", "pbl_0101")
    .execute();
  const shown = await olga.get("/emergency");
  expect(shown.text).toMatch(/Can be called back \$\S+ 1 bill/);
  expect(shown.text).toMatch(/Can’t be called back \$\S+ 1 bill/);
  const asked = await olga.get(`/emergency/cancel?bill=${encodeURIComponent("acme/pbl_0101")}`);
  expect(asked.text).toContain("Harbor Street Bakery");
  expect(asked.text).not.toContain("Juniper");
  // Temporal is down here: the request is kept, and the page says so.
  const done = await olga.send(asked, "/emergency/cancel", { reason: "wrong week" });
  expect(done.text).toContain("Temporal");
  const two = ["acme/pbl_0101", "acme/pbl_0102"].map((key) => `bill=${encodeURIComponent(key)}`);
  const rest = await olga.get(`/emergency/cancel?${two.join("&")}`);
  expect(rest.text).toContain(
    "1 of 2 that you ticked is not here: it can’t be called back any more.",
  );
  // The bank has the payment by now.
  await setLine(gateway.store, run.runId, "pbl_0101", { state: "processing" });
  const late = await olga.send(rest, "/emergency/cancel", { reason: "wrong week" });
  expect(late.text).toContain(
    "Nothing is called back 1 was refused, and nothing of it was changed.",
  );
  expect(late.text).toContain("pbl_0101 Nothing was done: it can’t be called back any more.");
});

test("the emergency page offers an operator stop and cancel, an approver the stop, a viewer neither", async ({
  gateway,
  run,
}) => {
  const { runId } = run;
  await setLine(gateway.store, runId, "pbl_0101", { state: "held", paymentIds: ["pay_1"] });
  const offered = async (name: string, roles: readonly string[]) => {
    const { html, text } = await (await signedIn(gateway, name, roles)).get("/emergency");
    expect(text).toContain("Harbor Street Bakery");
    return [
      html.includes('action="/emergency/stop"'),
      html.includes('action="/emergency/cancel"'),
      text.includes("cancelled by an operator or admin"),
      text.includes("That takes the role operator or admin, or one that approves payments"),
    ];
  };
  expect(await offered("oli", ["operator"])).toEqual([true, true, false, false]);
  expect(await offered("cora", ["controller"])).toEqual([true, false, true, false]);
  expect(await offered("vera", ["viewer"])).toEqual([false, false, true, true]);
});

test("the emergency page says that a restored store doesn't count what it has lost", async ({
  gateway,
  olga,
}) => {
  expect((await olga.get("/emergency")).text).not.toContain("neither counted nor listed");
  await noticeLoss(gateway.store);
  expect((await olga.get("/emergency")).text).toContain("neither counted nor listed");
});
