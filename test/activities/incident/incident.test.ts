import { describe, expect } from "vitest";
import { fundingIncidentId, retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { claimOwners } from "../../../src/store/payables/claims.ts";
import { releaseHold } from "../../../src/store/holds/holds.ts";
import { getIncident } from "../../../src/store/incidents/incidents.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { test } from "../bounce-scene.ts";
import { explainIn } from "../explain.ts";

describe("payments that bounce because our own account is empty", () => {
  test("payments that bounce on one account are one incident, with one hold and one notice", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R01", "R01", "R09"]);
    const sourceId = await scene.sourceOf(planned);
    expect(await world.holds()).toMatchObject([
      {
        ...{ scope: "source", value: sourceId, author: fundingIncidentId("acme", sourceId) },
        // The return codes of the other payments may differ.
        reason: expect.stringMatching(
          /^Payments from this account bounced, the first with: R0[19]/,
        ),
      },
    ]);
    const notices = await listNotices(world.store.db, { kind: "incident", limit: 10 });
    expect(notices.filter(({ data }) => data["sourceId"] === sourceId)).toHaveLength(1);
    expect(world.told).toContain(fundingIncidentId("acme", sourceId));
    await world.control.advance("P4D");
    for (const payableId of planned.payableIds) {
      expect(await world.look(payableId)).toMatchObject({
        phase: "waiting",
        waitingFor: expect.stringMatching(/one decision/),
      });
      expect(await world.paymentsOf(payableId)).toHaveLength(1);
    }
    expect((await world.assess(planned.runId)).waitingFor).toBe(
      "3 bills waiting for a decision about their account, or for its deposit",
    );
    expect(await world.incident(sourceId)).toMatchObject({
      phase: "open",
      waitingFor: expect.stringMatching(/a decision of controller/),
      soFar: expect.stringMatching(/^3 bills of \$300\.00 bounced \(the first: R0\d\)$/),
      details: expect.stringMatching(/^\*\*Balance\*\* of acme[^]*Bills that wait: 3, \$300\.00/),
    });
  });

  test("each bill of an incident is paid once after the one release", async ({ scene, world }) => {
    const planned = await scene.failedRun(["R01", "R01"]);
    const sourceId = await scene.sourceOf(planned);
    await world.takeSignals();
    const [hold] = await world.holds();
    await world.store.transaction((trx) =>
      releaseHold(trx, hold?.holdId ?? "", "carla", Date.now()),
    );
    expect(await world.incident(sourceId)).toMatchObject({
      phase: "ended",
      outcome: "released by carla",
    });
    expect((await world.assess(planned.runId)).waitingFor).toBe("2 bills retried after a failure");
    const retries = planned.payableIds.map((id) => retryFailedPaymentId("acme", id));
    const incident = fundingIncidentId("acme", sourceId);
    expect(await world.takeSignals()).toEqual([incident, planned.runId, ...retries].toSorted());
    for (const payableId of planned.payableIds) {
      // If the day ends in between, the bill is judged again.
      await expect
        .poll(async () => {
          const { phase } = await world.look(payableId);
          if (phase === "pay") await world.retry(payableId);
          return phase;
        })
        .toBe("following");
      expect(await world.paymentsOf(payableId)).toHaveLength(2);
      const { history, text } = await explainIn(world, payableId);
      const decided = history.timeline.filter(({ kind }) => kind === "incident");
      expect(decided).toMatchObject([
        { text: "Its funding account is on hold for all runs (R01)" },
        { text: expect.stringMatching(/^Its funding account was released/), by: "carla" },
      ]);
      expect(text).toContain("Its funding account was released");
    }
    expect(await world.holds()).toEqual([]);
  });

  test("a bill that is looked at after the release of its account is paid at once", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R01", "R01"]);
    const [, late = ""] = planned.payableIds;
    const sourceId = await scene.sourceOf(planned);
    // As if no look had been made at the second bill yet.
    const { db } = world.store;
    const fresh = { phase: "planning", handled_payment_ids: "[]", reason_code: null, reason: null };
    await db.updateTable("retries").set(fresh).where("payable_id", "=", late).execute();
    await db.deleteFrom("retry_cases").where("payable_id", "=", late).execute();
    await world.decideIncident(sourceId, "released");
    expect((await world.look(late)).wakeInMs).toBeLessThan(1_000);
    expect((await world.look(late)).phase).toBe("pay");
  });

  test("a decision for another account gives the bills to the next run and keeps the account held", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R09"]);
    const sourceId = await scene.sourceOf(planned);
    await world.decideIncident(sourceId, "other-source");
    expect((await world.look(planned.payableId)).phase).toBe("ended");
    expect(await world.line(planned.runId, planned.payableId)).toMatchObject({
      state: "parked",
      reasonCode: "other_source",
    });
    const owners = await claimOwners(world.store.db, world.businessId, [planned.payableId]);
    expect(owners.size).toBe(0);
    expect(await world.holds()).toMatchObject([{ scope: "source", value: sourceId }]);
  });

  test("a payment that bounces again after the release opens the incident again", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R01"]);
    const sourceId = await scene.sourceOf(planned);
    await world.decideIncident(sourceId, "released");
    const { payableId } = planned;
    await world.control.outcome({
      match: { payableId },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    await world.control.advance("P9D");
    expect((await world.look(payableId)).phase).toBe("waiting");
    const again = await getIncident(world.store.db, world.businessId, sourceId);
    expect(again).toMatchObject({ round: 2, phase: "open" });
    expect(await world.holds()).toHaveLength(1);
  });

  test("a reopened incident counts only the bills that bounced again, not those under way", async ({
    scene,
    world,
  }) => {
    const planned = await scene.failedRun(["R01", "R01"]);
    const sourceId = await scene.sourceOf(planned);
    const [, again = ""] = planned.payableIds;
    const match = { payableId: again };
    await world.control.outcome({ match, outcome: "fail", code: "R01", times: 1 });
    await world.decideIncident(sourceId, "released");
    for (const payableId of planned.payableIds) {
      expect((await world.look(payableId)).phase).toBe("pay");
      await world.retry(payableId);
      expect((await world.look(payableId)).phase).toBe("following");
    }
    await world.control.advance("P9D");
    expect((await world.look(again)).phase).toBe("waiting");
    expect(await world.incident(sourceId)).toMatchObject({
      phase: "open",
      soFar: "1 bill of $100.00 bounced (the first: R01)",
    });
  });

  test("releasing an account lifts all its holds, including one from an earlier round", async ({
    scene,
    world,
  }) => {
    // Paid before the account was held, and returned after the decision.
    const later = await world.approvedRun([{}], { late: "next-business-day" });
    const first = await scene.failedRun(["R01"]);
    const sourceId = await scene.sourceOf(first);
    for (const { holdId } of await world.holds()) {
      await world.store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
    }
    await world.control.outcome({
      match: { payableId: later.payableId },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    await world.pay(later.runId);
    await world.store.db.updateTable("holds").set({ released_at_ms: null }).execute();
    await world.decideIncident(sourceId, "other-source");
    await world.control.advance("P9D");
    await world.follow(later.runId);
    await world.look(later.payableId);
    expect(await world.holds()).toHaveLength(2);
    await world.decideIncident(sourceId, "released");
    expect(await world.holds()).toEqual([]);
  });
});
