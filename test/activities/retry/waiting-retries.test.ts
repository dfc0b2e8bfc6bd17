import { describe, expect } from "vitest";
import { attemptsOf } from "../../../src/ledger/attempts.ts";
import { NEXT_DAY_RETRIES } from "../../support/next-day-retries.ts";
import { dueRetry, test } from "../retry-world.ts";

describe("bills that wait for money", () => {
  test("bills that wait for money are paid again one by one, as far as the money goes", async ({
    world,
  }) => {
    await world.failurePlaybook(
      "kind: retry-failed\nrules: [{ match: [R01], retry: when-funds-arrive }]\n",
    );
    const planned = await world.approvedRun([{}, {}, {}], { late: "next-business-day" });
    const { runId, payableIds } = planned;
    for (const payableId of payableIds) {
      await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
    }
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    await world.control.changeBusiness({ balanceCents: 9_999 });
    const phases = async (): Promise<string[]> => {
      const looks = [];
      for (const payableId of payableIds) looks.push((await world.look(payableId)).phase);
      return looks;
    };
    expect(await phases()).toEqual(["waiting", "waiting", "waiting"]);
    // Enough for each bill alone, and for two of the three together.
    await world.control.changeBusiness({ balanceCents: 25_000 });
    const now = await phases();
    expect(now.toSorted()).toEqual(["pay", "pay", "waiting"]);
    for (const [index, payableId] of payableIds.entries()) {
      if (now[index] === "pay") await world.retry(payableId);
    }
    expect((await phases()).toSorted()).toEqual(["following", "following", "waiting"]);
    await world.control.changeBusiness({ balanceCents: 50_000 });
    expect((await phases()).toSorted()).toEqual(["following", "following", "pay"]);
    await world.failurePlaybook(NEXT_DAY_RETRIES);
  });
});

describe("a retry whose answer is lost", () => {
  test("a retry whose answer is lost keeps its line: no run leases it", async ({ world }) => {
    const { runId, payableId } = await dueRetry(world);
    await world.look(payableId);
    await world.control.faults([
      { method: "POST", path: "/v1/payables/*/retry-payment", when: "before", effect: "drop" },
      { method: "POST", path: "/v1/payments", when: "before", effect: "drop" },
    ]);
    await world.retry(payableId);
    expect(await attemptsOf(world.store.db, world.businessId, payableId)).toMatchObject([
      { state: "applied" },
      { state: "open" },
    ]);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
    const rest = await world.look(payableId);
    expect(rest.phase).toBe("waiting");
    await world.control.faults();
    await world.control.advanceWire("PT1M");
    await world.pay(runId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(2);
    expect((await world.look(payableId)).phase).toBe("following");
  });
});
