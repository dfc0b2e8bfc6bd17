import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "vitest";
import { createActivities } from "../../../activities/index.ts";
import { setWait } from "../../../src/store/runs/waits.ts";
import { test } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

test("a look's result is kept in the history without digits of bank accounts", async ({
  cancels,
  world,
}) => {
  const { store, businessId } = world;
  const paymentId = await cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
  const id = await cancels.ask({ payments: [paymentId] });
  const { serviceMs: nowMs, realMs } = await world.context().clockOf("acme").now();
  const fault = { businessId, sourceId: "", code: "unreachable" as const, nowMs, realMs };
  const message = "The service asks about the account ••6789.";
  await store.transactionOf(businessId, (trx) =>
    setWait(trx, { ...fault, message, retryAtMs: nowMs + 3_600_000 }),
  );
  const activities = createActivities(world.context());
  const review = (input: { id: string }) => activities.reviewCancellation(input);
  const look = await new MockActivityEnvironment({
    workflowExecution: { workflowId: id, runId: "one" },
  }).run(review, { id });
  expect(look).toMatchObject({ waitingFor: "The service asks about the account ••." });
  expect(JSON.stringify(look)).not.toContain("••6789");
});
