import { expect, test } from "vitest";
import { sql } from "kysely";
import { StoreProbe } from "../../src/gateway/store-probe.ts";
import { type Store, StoreError } from "../../src/store/index.ts";
import { testStore } from "../store/support.ts";

/** A store that counts its small writes, and a clock that only the test moves. */
async function probed() {
  const { store } = await testStore();
  let [writes, nowMs] = [0, 0];
  const counting: Store = {
    ...store,
    tryToWrite: () => {
      writes += 1;
      return store.tryToWrite();
    },
  };
  const probe = new StoreProbe(counting, () => nowMs);
  return { store, probe, writes: () => writes, pass: (ms: number) => void (nowMs += ms) };
}

const readOnly = (store: Store, value: "on" | "off") =>
  sql.raw(`pragma query_only = ${value}`).execute(store.db);

test("many who ask at once or within seconds cost the disk one write", async () => {
  const { probe, writes, pass } = await probed();
  const asked = await Promise.all(Array.from({ length: 20 }, () => probe.state()));
  expect(new Set(asked)).toEqual(new Set(["ok"]));
  pass(2_000);
  expect(await probe.state()).toBe("ok");
  expect(writes()).toBe(1);
  pass(2_000);
  expect(await probe.state()).toBe("ok");
  expect(writes()).toBe(2);
});

test("a store that takes no writes is noticed by the next write, and its recovery too", async () => {
  const { store, probe, pass } = await probed();
  expect(await probe.state()).toBe("ok");
  await readOnly(store, "on");
  pass(5_000);
  expect(probe.hasJustRecovered).toBe(false);
  expect(await probe.state()).toBe("read_only");
  await readOnly(store, "off");
  pass(5_000);
  expect(await probe.state()).toBe("ok");
  expect(probe.hasJustRecovered).toBe(true);
  pass(30_000);
  expect(probe.hasJustRecovered).toBe(false);
});

test("what fails elsewhere counts at once if it is about all writes, and not if it is about one", async () => {
  const { probe, writes, pass } = await probed();
  expect(await probe.state()).toBe("ok");
  probe.noteFailure(new StoreError("locked", "one business's lock"));
  expect(await probe.state()).toBe("ok");
  probe.noteFailure(new StoreError("full", "no room"));
  expect(await probe.state()).toBe("full");
  pass(5_000);
  expect(await probe.state()).toBe("ok");
  expect(writes()).toBe(2);
});

test("a write that waits says nothing for some seconds, and then that the store is locked", async () => {
  const { store } = await testStore();
  let nowMs = 0;
  const waiting: Store = { ...store, tryToWrite: () => new Promise(() => undefined) };
  const probe = new StoreProbe(waiting, () => nowMs);
  expect(await probe.state()).toBe("ok");
  nowMs += 60_000;
  expect(await probe.state()).toBe("locked");
});
