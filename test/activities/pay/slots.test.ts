import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { inSlot } from "../../../activities/pay/slots.ts";
import { LANES_MAX } from "../../../src/domain/runs/lanes.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { temporaryFolder } from "../../store/support.ts";

const lane = { kind: "lane", businessId: "b" } as const;
const never = new AbortController().signal;

async function newStore(): Promise<Store> {
  const store = await openStore(`sqlite:${temporaryFolder()}/payrun.db`);
  onTestFinished(() => store.close());
  return store;
}

/** Creates work that lasts until it is released. */
function gate(): { readonly work: () => Promise<string>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, open: () => resolve("done") };
}

test("no more lanes pay for a business at once than it has slots, and a freed slot is taken", async () => {
  const store = await newStore();
  let working = 0;
  const begun = gate();
  const work = async (): Promise<string> => {
    working += 1;
    return begun.work();
  };
  const all = Array.from({ length: LANES_MAX + 1 }, () => inSlot(store, lane, never, work));
  await expect.poll(() => working).toBe(LANES_MAX);
  // The extra one has asked in the meantime, and asks again.
  await sleep(700);
  expect(working).toBe(LANES_MAX);
  begun.open();
  expect(await Promise.all(all)).toEqual(Array.from({ length: LANES_MAX + 1 }, () => "done"));
  expect(working).toBe(LANES_MAX + 1);
});

test("another business, and the retries of the same business, have slots of their own", async () => {
  const store = await newStore();
  const busy = gate();
  const all = Array.from({ length: LANES_MAX }, () => inSlot(store, lane, never, busy.work));
  await expect.poll(() => leases(store)).toBe(LANES_MAX);
  const others = [{ ...lane, businessId: "c" } as const, { ...lane, kind: "retry" } as const];
  for (const wanted of others) {
    expect(await inSlot(store, wanted, never, () => Promise.resolve("paid"))).toBe("paid");
  }
  busy.open();
  await Promise.all(all);
});

test("work that is stopped while it waits for a slot does not begin", async () => {
  const store = await newStore();
  const busy = gate();
  const all = Array.from({ length: LANES_MAX }, () => inSlot(store, lane, never, busy.work));
  await expect.poll(() => leases(store)).toBe(LANES_MAX);
  const stop = new AbortController();
  const waiting = inSlot(store, lane, stop.signal, () => Promise.resolve("paid"));
  stop.abort();
  expect(await waiting).toBeUndefined();
  busy.open();
  await Promise.all(all);
});

test("a slot is released even if its work fails", async () => {
  const store = await newStore();
  const failing = inSlot(store, lane, never, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(await leases(store)).toBe(0);
});

test("the slot of a dead process is free once its lease has expired", async () => {
  const store = await newStore();
  const names = Array.from({ length: LANES_MAX }, (_, slot) => `lane/b/${slot}`);
  const left = (name: string) => ({ name, holder: "dead", until_ms: Date.now() + 600 });
  await store.db.insertInto("leases").values(names.map(left)).execute();
  expect(await inSlot(store, lane, never, () => Promise.resolve("paid"))).toBe("paid");
});

async function leases(store: Store): Promise<number> {
  return (await store.db.selectFrom("leases").select("name").execute()).length;
}
