import { describe, expect } from "vitest";
import type { TestSandbox, WebhookFaults } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { eventually } from "../../support/waits.ts";

const it = sandboxTest("blank");

describe("webhook faults", () => {
  async function bills(sandbox: TestSandbox, count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      await sandbox.control.createPayable({ totalAmountCents: 5_000, dueDate: "2030-01-15" });
    }
  }

  it("a lost event never arrives, but stays in the list of deliveries", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    await sandbox.control.faults([], { lose: 1 });
    await bills(sandbox, 1);
    await sandbox.control.faults();
    await bills(sandbox, 1);
    await hooks.settled(endpoint.id, "succeeded");
    const [, lost] = await hooks.deliveries(endpoint.id);
    expect(lost).toMatchObject({ status: "dead", lastError: "lost", attemptCount: 0 });
    expect(JSON.parse(lost?.requestBody ?? "{}")).toMatchObject({ type: "payable.created" });
    expect(receiver.received).toHaveLength(1);
  });

  it("a duplicated event arrives twice as the same delivery", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const endpoint = await hooks.create(receiver.url);
    await sandbox.control.faults([], { duplicate: 1 });
    await bills(sandbox, 1);
    const [first, second] = await receiver.until(2);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers["service-webhook-id"]).toBe(first?.headers["service-webhook-id"]);
    expect((await hooks.settled(endpoint.id, "succeeded")).attemptCount).toBe(1);
  });

  it("reordered events arrive out of sequence, each of them once", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    await hooks.create(receiver.url);
    await sandbox.control.faults([], { reorder: 0.5, seed: 3 });
    await bills(sandbox, 12);
    const received = await receiver.until(12);
    const sequences = received.map(({ event }) => BigInt(event.sequence));
    expect(sequences).not.toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(sequences).size).toBe(12);
  });

  it("an event is delayed in real time, which advancing the wire clock doesn't shorten", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    await hooks.create(receiver.url);
    await sandbox.control.faults([], { delayMs: 1_500 });
    const startedMs = performance.now();
    await bills(sandbox, 1);
    await sandbox.control.advanceWire("PT1H");
    await receiver.until(1);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_450);
  });

  it("webhook faults hit the same deliveries again with the same seed", async ({
    sandbox,
    receiver,
    hooks,
  }) => {
    const outcomes = async (faults: WebhookFaults): Promise<string[]> => {
      await sandbox.control.reset();
      const endpoint = await hooks.create(receiver.url);
      await sandbox.control.faults([], faults);
      await bills(sandbox, 20);
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
