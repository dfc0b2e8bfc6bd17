import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSandbox, type TestSandbox, type WebhookFaults } from "../../support/sandbox.ts";
import { eventually, Receiver, WebhookApi } from "./receiver.ts";

describe("webhook faults", () => {
  let sandbox: TestSandbox;
  let hooks: WebhookApi;
  let receiver: Receiver;

  beforeAll(async () => {
    sandbox = await startSandbox();
    hooks = new WebhookApi(sandbox);
  });
  afterAll(() => sandbox.stop());
  beforeEach(async () => {
    await sandbox.control.reset();
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.stop());

  async function bills(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      await sandbox.control.createPayable({ totalAmountCents: 5_000, dueDate: "2030-01-15" });
    }
  }

  it("a lost event never arrives, but stays in the list of deliveries", async () => {
    const endpoint = await hooks.create(receiver.url);
    await sandbox.control.faults([], { lose: 1 });
    await bills(1);
    await sandbox.control.faults();
    await bills(1);
    await hooks.settled(endpoint.id, "succeeded");
    const [, lost] = await hooks.deliveries(endpoint.id);
    expect(lost).toMatchObject({ status: "dead", lastError: "lost", attemptCount: 0 });
    expect(JSON.parse(lost?.requestBody ?? "{}")).toMatchObject({ type: "payable.created" });
    expect(receiver.received).toHaveLength(1);
  });

  it("a duplicated event arrives twice as the same delivery", async () => {
    const endpoint = await hooks.create(receiver.url);
    await sandbox.control.faults([], { duplicate: 1 });
    await bills(1);
    const [first, second] = await receiver.until(2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers["service-webhook-id"]).toBe(first?.headers["service-webhook-id"]);
    expect((await hooks.settled(endpoint.id, "succeeded")).attemptCount).toBe(1);
  });

  it("reordered events arrive out of sequence, each of them once", async () => {
    await hooks.create(receiver.url);
    await sandbox.control.faults([], { reorder: 0.5, seed: 3 });
    await bills(12);
    const received = await receiver.until(12);
    const sequences = received.map(({ event }) => BigInt(event.sequence));
    expect(sequences).not.toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(sequences).size).toBe(12);
  });

  it("an event is delayed in real time, which advancing the wire clock doesn't shorten", async () => {
    await hooks.create(receiver.url);
    await sandbox.control.faults([], { delayMs: 1_500 });
    const startedMs = performance.now();
    await bills(1);
    await sandbox.control.advanceWire("PT1H");
    await receiver.until(1);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_450);
  });

  it("webhook faults hit the same deliveries again with the same seed", async () => {
    const outcomes = async (faults: WebhookFaults): Promise<string[]> => {
      await sandbox.control.reset();
      const endpoint = await hooks.create(receiver.url);
      await sandbox.control.faults([], faults);
      await bills(20);
      await eventually("all are done", async () =>
        (await hooks.deliveries(endpoint.id)).every(({ status }) =>
          ["succeeded", "dead"].includes(status),
        ),
      );
      return (await hooks.deliveries(endpoint.id)).map(({ status }) => status);
    };
    const first = await outcomes({ lose: 0.4, seed: "monday" });
    expect(await outcomes({ lose: 0.4, seed: "monday" })).toEqual(first);
    expect(new Set(first)).toEqual(new Set(["succeeded", "dead"]));
    expect(await outcomes({ lose: 0.4, seed: "tuesday" })).not.toEqual(first);
  });
});
