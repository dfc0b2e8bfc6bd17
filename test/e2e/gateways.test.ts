import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { insertEvents } from "../../src/store/events/inbox.ts";
import { deliver, eventBody, signed } from "../gateway/support/gateway.ts";
import { isLong } from "../support/long.ts";
import { bills } from "../support/bills.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import { expectSettledOnce, plannedScene, scenePlaybook } from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { storeKinds, storePlace } from "../support/store-kinds.ts";

let payrun: TestPayrun;

describe.each(storeKinds("sqlite"))("two gateways on a store in %s", (kind) => {
  let stop = async (): Promise<void> => undefined;
  let other = "";

  beforeAll(async () => {
    const place = await storePlace(kind);
    stop = place.stop;
    payrun = await startPayrun(place.options);
    other = await payrun.startAnotherGateway();
  });
  afterEach(async () => {
    await payrun.recover();
  });
  afterAll(async () => {
    await payrun?.stop();
    await stop();
  });

  test.runIf(isLong)("two gateways store an event once if both receive it", async () => {
    const { businessId } = payrun.sandbox.business;
    const ids = Array.from({ length: 10 }, (_, index) => `evt_twice_${index}`);
    const answers = await Promise.all(
      ids.flatMap((id) => {
        const body = eventBody({ id, objectId: "bill_unknown", businessId });
        const signature = signed(body, Date.now(), payrun.webhookSecret);
        return [payrun.gatewayUrl, other].map((url) =>
          deliver(url, body, { business: "default", signature }),
        );
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const rows = await payrun.store.db
      .selectFrom("inbox")
      .select("event_id")
      .where("event_id", "like", "evt_twice_%")
      .execute();
    expect(rows).toHaveLength(10);
  });

  test("two gateways that get two decisions at the same moment count each of them once", async () => {
    const scene = await plannedScene(payrun, "both-decide", [25_00], {
      approve: ["{ by: [controller, owner], quorum: 2 }"],
    });
    const { planHash } = await payrun.status(scene.runId);
    const path = `/v1/runs/${encodeURIComponent(scene.runId)}/decisions`;
    const body = { decision: "approve", planHash };
    const answers = await Promise.all([
      payrun.call("controller", "POST", path, body),
      payrun.call("controller", "POST", path, body, other),
      payrun.call("owner", "POST", path, body, other),
      payrun.call("owner", "POST", path, body),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const decisions = await payrun.store.db
      .selectFrom("decisions")
      .select(["principal", "outcome"])
      .where("run_id", "=", scene.runId)
      .orderBy("principal")
      .execute();
    expect(decisions).toEqual([
      { principal: "controller", outcome: "accepted" },
      { principal: "owner", outcome: "accepted" },
    ]);
    await expectSettledOnce(payrun, scene);
  });

  test.runIf(isLong)("two gateways signal an owner of many events once", async () => {
    const { control } = payrun.sandbox;
    const name = "told-once";
    const made = await bills(payrun.sandbox, [11_00, 12_00, 13_00], { description: name });
    await payrun.apply(name, scenePlaybook(name));
    const runId = await payrun.launch(name);
    await payrun.untilPhase(runId, "awaiting-approval");
    await control.faults([], { lose: 1 });
    await payrun.killWorkers();
    await payrun.stopGateway();
    const before = await signals(runId);
    await insertEvents(
      payrun.store.db,
      made.map(({ id }, index) => ({
        businessId: payrun.sandbox.business.businessId,
        eventId: `evt_once_${index}`,
        type: "payable.updated",
        sequence: String(index),
        object: "payable",
        objectId: id,
        createdAt: new Date().toISOString(),
        receivedAtMs: Date.now(),
        via: "webhook" as const,
        body: "{}",
      })),
    );
    await Promise.all([payrun.startGateway(), payrun.startAnotherGateway()]);
    await expect.poll(async () => (await signals(runId)) - before).toBe(1);
    await expect.poll(() => undispatched()).toBe(0);
    expect((await signals(runId)) - before).toBe(1);
    await payrun.startWorker();
    await approve(payrun, runId);
    await expectSettledOnce(payrun, { runId, made });
  });
});

async function signals(workflowId: string): Promise<number> {
  const history = await payrun.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).filter(
    (event) =>
      event.workflowExecutionSignaledEventAttributes !== undefined &&
      event.workflowExecutionSignaledEventAttributes !== null,
  ).length;
}

async function undispatched(): Promise<number> {
  const rows = await payrun.store.db
    .selectFrom("inbox")
    .select("event_id")
    .where("dispatched_at_ms", "is", null)
    .execute();
  return rows.length;
}
