import { MockActivityEnvironment } from "@temporalio/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createActivities } from "../../../activities/index.ts";
import { setWait } from "../../../src/store/runs/waits.ts";
import { CancelWorld } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

let world: CancelWorld;

beforeAll(async () => {
  world = await CancelWorld.start();
});
afterAll(async () => {
  await world.stop();
});

test("what a look answers stands in the history without the digits of bank accounts", async () => {
  await world.reset();
  const { store, businessId } = world.money;
  const paymentId = await world.payment(await world.bill(10_000), { scheduledAt: inDays(5) });
  const id = await world.ask({ payments: [paymentId] });
  const { serviceMs: nowMs, realMs } = await world.money.context().clockOf("acme").now();
  const fault = { businessId, sourceId: "", code: "unreachable", nowMs, realMs };
  const message = "The service asks about the account ••6789.";
  await store.transactionOf(businessId, (trx) =>
    setWait(trx, { ...fault, message, retryAtMs: nowMs + 3_600_000 }),
  );
  const activities = createActivities(world.money.context());
  const review = (input: { id: string }) => activities.reviewCancellation(input);
  const look = await new MockActivityEnvironment().run(review, { id });
  expect(look).toMatchObject({ waitingFor: "The service asks about the account ••." });
  expect(JSON.stringify(look)).not.toContain("6789");
});
