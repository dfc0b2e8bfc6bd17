import { describe, expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import type { TestGateway } from "../gateway/support/gateway.ts";
import { lineState, type SeededRun, setLine } from "../gateway/support/rows.ts";
import { signedIn } from "./support/visits.ts";
import { inForce, park, weeklyTest as test } from "./support/weekly-run.ts";

/** Makes a bill's payment fail with R01 and wait for the decision about its account. */
async function failsAndWaits(
  gateway: TestGateway,
  run: SeededRun,
  payableId: string,
): Promise<void> {
  const of = { businessId: "biz_acme", payableId };
  const workflowId = retryFailedPaymentId("acme", payableId);
  await setLine(gateway.store, run.runId, payableId, { state: "retrying", reasonCode: "R01" });
  await gateway.store.transaction(async (trx) => {
    await upsertRetry(trx, { ...of, business: "acme", workflowId, runId: run.runId, nowMs: 1 });
    await updateRetry(trx, of, { phase: "waiting" }, 2);
    await keepRetryCase(trx, {
      ...{ ...of, sourceId: "balance", waitsFor: "incident", failedAtMs: 1, failedRealMs: 1 },
      rule: {
        ...{ codes: ["R01"], words: [], action: "retry", pause: true, payAgain: false },
        ...{ when: "when-released", atMost: 2, by: ["controller"] },
      },
      ...{ giveUpAfterDays: 30, giveUpNotify: [] },
    });
  });
}

describe("What needs action", () => {
  test("the page names who may decide, and shows the form only to them", async ({
    gateway,
    run,
  }) => {
    await park(gateway, run, "pbl_0101");
    await park(gateway, run, "pbl_0102");
    const rule = { codes: ["R02"], words: [], action: "hold-vendor", pause: false } as const;
    const held = { ...rule, payAgain: true, when: null, atMost: 0, by: ["controller"] } as const;
    await gateway.store.transaction((trx) =>
      keepRetryCase(trx, {
        ...{ businessId: "biz_acme", payableId: "pbl_0102", sourceId: "balance", rule: held },
        ...{ giveUpAfterDays: 30, giveUpNotify: [], waitsFor: null },
        ...{ failedAtMs: 1, failedRealMs: 1 },
      }),
    );
    const ticks = async (name: string, roles: readonly string[]) => {
      const visits = await signedIn(gateway, name, roles);
      const { html, text } = await visits.get("/needs-action");
      expect(text).toContain(
        "A decision takes the role operator or admin; of others operator or admin or controller.",
      );
      const asked = await visits.get("/needs-action/resolve?bill=acme%2Fpbl_0102");
      return [
        ...[...html.matchAll(/value="acme\/(pbl_\d+)"/g)].map(([, bill = ""]) => bill),
        asked.html.includes('action="/needs-action/resolve"') ? "form" : "no form",
      ];
    };
    expect((await ticks("ada", ["admin"])).toSorted()).toEqual(["form", "pbl_0101", "pbl_0102"]);
    // An operator may give the bill up, but not try it again.
    expect((await ticks("oli", ["operator"])).toSorted()).toEqual(["form", "pbl_0101", "pbl_0102"]);
    expect(await ticks("cora", ["controller"])).toEqual(["pbl_0102", "form"]);
    expect(await ticks("vera", ["viewer"])).toEqual(["no form"]);
    const page = "/bills/pbl_0102?business=acme";
    const acts = async (role: string) =>
      (await (await signedIn(gateway, role, [role])).get(page)).text;
    expect(await acts("operator")).toContain("Give up");
    expect(await acts("operator")).not.toContain("Try again");
    expect(await acts("controller")).toContain("Try again");
  });

  test("the decision about an account that bounced is offered only to those it waits for", async ({
    gateway,
  }) => {
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
        ...{ workflowId: "funding-incident/acme/balance", reason: "Insufficient funds" },
        ...{ roles: ["controller"], holdId: "hold_1", nowMs: Date.now() },
        failedAtMs: Date.now(),
      }),
    );
    const page = "/incidents/balance?business=acme";
    const offered = async (name: string, roles: readonly string[]) => {
      const visits = await signedIn(gateway, name, roles);
      const isLinked = (await visits.get("/needs-action")).html.includes(`href="${page}"`);
      const { html, text } = await visits.get(page);
      expect(text).toContain("Insufficient funds");
      return [isLinked, html.includes(`action="${page}"`)];
    };
    expect(await offered("cora", ["controller"])).toEqual([true, true]);
    expect(await offered("vera", ["viewer"])).toEqual([false, false]);
  });

  test("exceptions are grouped by cause, bounced accounts first, and decided in bulk with a result each", async ({
    gateway,
    run,
    olga,
  }) => {
    await park(gateway, run, "pbl_0101");
    await park(gateway, run, "pbl_0102");
    await park(gateway, run, "pbl_0103", "partly_paid");
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
        ...{ workflowId: "funding-incident/acme/balance", reason: "Insufficient funds" },
        ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
      }),
    );
    const shown = await olga.get("/needs-action");
    expect(shown.text.indexOf("Payments from Balance bounced")).toBeGreaterThan(0);
    expect(shown.text.indexOf("Payments from Balance bounced")).toBeLessThan(
      shown.text.indexOf("R02, account closed (2)"),
    );
    expect(shown.text).toContain("Partly paid (1)");
    const bills = ["acme/pbl_0101", "acme/pbl_0102"];
    const query = bills.map((bill) => `bill=${encodeURIComponent(bill)}`).join("&");
    const asked = await olga.get(`/needs-action/resolve?${query}`);
    const gone = await olga.get(`/needs-action/resolve?${query}&bill=acme%2Fpbl_gone`);
    expect(gone.text).toContain("1 of 3 that you ticked is not here");
    const silent = await olga.send(asked, "/needs-action/resolve", { reason: "x" });
    expect(silent.status).toBe(422);
    // One of the bills has settled in the meantime.
    await setLine(gateway.store, run.runId, "pbl_0102", { state: "settled" });
    const action = "paid-elsewhere";
    const done = await olga.send(asked, "/needs-action/resolve", { action, reason: "by card" });
    expect(done.text).toContain("1 of 2: counts as paid elsewhere.");
    expect(done.text).toMatch(/BILL-000102 It no longer waits for a decision/);
    expect(done.text).not.toContain("payrun explain");
    expect(await lineState(gateway.store, run.runId, "pbl_0101")).toBe("paid-elsewhere");
    expect(await lineState(gateway.store, run.runId, "pbl_0103")).toBe("parked");
  });

  test("an account that bounced takes one decision, and the page says what each choice leads to", async ({
    gateway,
    run,
    olga,
  }) => {
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
        ...{ workflowId: "funding-incident/acme/balance", reason: "Insufficient funds" },
        ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
      }),
    );
    expect((await olga.get("/")).text).toContain(
      "Account that bounced Waits for a decision waits for the owner",
    );
    const path = "/incidents/balance?business=acme";
    const asked = await olga.get(path);
    expect(asked.text).toContain("No bill waits for it Your decision about the account");
    expect((await olga.get("/needs-action")).text).toContain("Nothing is paid from it until");
    expect(asked.text).toContain(
      "every bill that waits is paid again from it, within Nacha’s limits, unless another hold",
    );
    // A bill fails and waits for the decision before she has decided.
    await failsAndWaits(gateway, run, "pbl_0101");
    const money = { decision: "released", reason: "money is there" };
    const stale = await olga.send(asked, path, money);
    expect(stale.status).toBe(409);
    expect(stale.text).toMatch(/1 bill of \$[\d,.]+ waits for it/);
    expect(stale.text).toContain("What waits for it has changed. Nothing was decided");
    expect(stale.html).toContain('value="money is there"');
    const done = await olga.send(stale, path, money);
    expect(done.text).toContain("Your decision counts");
    expect(await inForce(gateway)).toEqual([]);
    expect((await olga.get(path)).text).toContain(
      "Decided The first: Insufficient funds “The money is there”, said",
    );
    const again = await olga.post(path, {});
    expect(again.status).toBe(403);
  });
});
