import { expect, test } from "vitest";
import { signalAtOnce } from "../../src/process/send-signals.ts";
import type { Store } from "../../src/store/index.ts";
import { oldestPendingSignals, signalOnCommit } from "../../src/store/signals/pending-signals.ts";
import { testStore } from "../store/support.ts";

const businessId = "biz_1";

function write(store: Store, workflowIds: readonly string[]): Promise<void> {
  return store.transaction(async (trx) => {
    for (const workflowId of workflowIds)
      signalOnCommit(trx, businessId, { kind: "workflow", workflowId });
  });
}

const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `w${index}`);

test("a transaction that concerns very many workflows leaves their signals to the gateways, and delays no others", async () => {
  const { store } = await testStore();
  const told: string[] = [];
  const send = async (workflowId: string): Promise<"sent"> => {
    told.push(workflowId);
    return "sent";
  };
  const telling = signalAtOnce(store, () => send, { info: () => undefined });
  await write(store, named(21));
  await write(store, ["a decision"]);
  await telling.stop();
  expect(told).toEqual(["a decision"]);
  expect(await oldestPendingSignals(store.db, 100)).toHaveLength(21);
});

test("up to twenty signals of a transaction are sent at once, two at a time", async () => {
  const { store } = await testStore();
  let atWork = 0;
  let most = 0;
  const send = async (): Promise<"sent"> => {
    atWork += 1;
    most = Math.max(most, atWork);
    await new Promise(setImmediate);
    atWork -= 1;
    return "sent";
  };
  const telling = signalAtOnce(store, () => send, { info: () => undefined });
  await write(store, named(20));
  await telling.stop();
  expect(most).toBe(2);
  expect(await oldestPendingSignals(store.db, 100)).toEqual([]);
});
