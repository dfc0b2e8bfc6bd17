import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { followRun } from "../../activities/follow-run.ts";
import { retryFailedPaymentId } from "../../src/contracts/names.ts";
import { getRetry } from "../../src/store/retries.ts";
import { MoneyWorld } from "./money-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.told.length = 0;
});

describe("a failed payment", () => {
  test("gets its owner also where the first call to Temporal is lost", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01" });
    await world.pay(runId);
    await world.control.advance("P9D");
    world.temporalFault = new Error("connection lost");
    await expect(world.follow(runId)).rejects.toThrow("connection lost");
    expect((await world.assess(runId)).toFollow).toBe(1);
    await followRun(world.context(), runId);
    expect(world.told).toEqual([retryFailedPaymentId("acme", payableId)]);
    expect((await world.line(runId, payableId)).state).toBe("retrying");
    expect(await getRetry(world.store.db, world.businessId, payableId)).toMatchObject({ runId });
    expect((await world.look(payableId)).phase).toBe("waiting");
  });
});

describe("following a run", () => {
  test("goes on where the service doesn't know a vendor any more", async () => {
    const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
    await world.pay(runId);
    const context = world.context();
    const client = context.clientOf("acme");
    const missing = Object.create(client.contacts, {
      get: {
        value: (id: string) =>
          id === "v1" ? client.contacts.get("con_gone") : client.contacts.get(id),
      },
    }) as typeof client.contacts;
    const patched = Object.create(client, { contacts: { value: missing } }) as typeof client;
    Object.defineProperty(context, "clientOf", { value: () => patched });
    await world.store.db.updateTable("run_lines").set({ look: 1 }).execute();
    await followRun(context, runId);
    expect(await world.line(runId, payableIds[0] ?? "")).toMatchObject({
      state: "scheduled",
      reasonCode: "payee-changed-after-approval",
    });
    expect(await world.line(runId, payableIds[1] ?? "")).toMatchObject({
      state: "scheduled",
      reasonCode: null,
      look: false,
    });
  });
});
