import { expect } from "vitest";
import type { LineFlag } from "../../../src/contracts/pay-run.ts";
import { getPlanLine } from "../../../src/store/lines/plan-lines.ts";
import type { MoneyWorld } from "../money-world.ts";
import { test } from "../money-world.ts";

const REVIEWED = { review: ["new-vendor", "changed-bank-account"] } as const;

/** Enters a bill of the vendor, and returns the flags that the next plan gives it. */
async function flagsOfNext(world: MoneyWorld): Promise<readonly LineFlag[]> {
  const { runId, payableId } = await world.plannedRun([{}], REVIEWED);
  const flags = (await getPlanLine(world.store.db, runId, payableId))?.flags ?? [];
  return flags.filter(({ kind }) => kind !== "late");
}

async function flagKinds(world: MoneyWorld): Promise<string[]> {
  return (await flagsOfNext(world)).map(({ kind }) => kind);
}

/** Pays a bill of the vendor, on its way until the clock advances. */
async function payOne(world: MoneyWorld): Promise<string> {
  const { runId } = await world.approvedRun([{}]);
  await world.pay(runId);
  return runId;
}

const CHANGED = { bankAccount: { accountNumber: "000000009999" } };

test("a payment that is only scheduled doesn't make a new account known", async ({ world }) => {
  const first = await payOne(world);
  await world.control.advance("P14D");
  await world.follow(first);
  expect(await flagKinds(world)).toEqual([]);

  await world.control.changeContact("v1", CHANGED);
  const toNewAccount = await payOne(world);
  const [scheduled] = await flagsOfNext(world);
  expect(scheduled?.kind).toBe("changed-bank-account");
  expect(scheduled?.text).toContain("1111");

  await world.control.advance("P14D");
  await world.follow(toNewAccount);
  expect(await flagKinds(world)).toEqual([]);
});

test("a payment that was recorded as made elsewhere makes no account known", async ({ world }) => {
  await world.control.changeContact("v1", CHANGED);
  const { payableId } = await world.plannedRun([{}], REVIEWED);
  await world.control.payOutside(payableId);
  await world.control.advance("P14D");
  expect(await flagKinds(world)).toEqual(["new-vendor", "changed-bank-account"]);
});

test("a record that was changed after the last settled payment is flagged, also if its account ends in the same digits", async ({
  world,
}) => {
  const first = await payOne(world);
  await world.control.advance("P14D");
  await world.follow(first);
  await world.control.changeContact("v1", { phone: "+1 646 555 0199" });
  const [flag] = await flagsOfNext(world);
  expect(flag?.kind).toBe("changed-record");
  expect(flag?.text).toContain("phone differs");
});
