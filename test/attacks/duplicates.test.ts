import { expect } from "vitest";
import { test } from "./planned-scene.ts";

const account = (accountNumber: string) => ({ accountNumber, routingNumber: "021000021" });

const CONTACTS = [
  { id: "v1", displayName: "Acme Inc", bankAccount: account("5550004321") },
  { id: "v2", displayName: "ACME, Inc.", bankAccount: account("7770008888") },
  { id: "v3", displayName: "Birch Supply", bankAccount: account("9990004321") },
  { id: "v4", displayName: "Cedar", bankAccount: account("1110001111") },
];

test("an invoice entered again is flagged beside the first one: a cent more, for a vendor's second record, or for another vendor with its account", async ({
  planning,
  scene,
}) => {
  await planning.reset({ contacts: CONTACTS });
  const first = await scene.enter({ customNumber: "INV-1001" });
  const centMore = await scene.enter({ customNumber: "inv 01001", totalAmountCents: 50_001 });
  const sameName = await scene.enter({ customNumber: "INV1001", contactId: "v2" });
  const sameAccount = await scene.enter({ customNumber: "INV-1001", contactId: "v3" });
  const other = await scene.enter({ customNumber: "INV-1001", contactId: "v4" });
  const runId = await scene.plan();
  const flag = (id: string) => scene.flag(runId, id, "likely-duplicate");
  for (const id of [centMore, sameName, sameAccount]) {
    expect((await flag(id))?.twins).toContain(first);
    expect((await scene.line(runId, id)).plan.quorum).toBe(2);
  }
  expect((await flag(centMore))?.text).toContain("Same vendor and number");
  expect((await flag(sameName))?.text).toContain("with the same name");
  expect((await flag(sameAccount))?.text).toContain("with the same account ending in 4321");
  expect(await flag(other)).toBeUndefined();
});

test("an invoice entered again is flagged also if its number only looks the same, or has a letter or a year added", async ({
  planning,
  scene,
}) => {
  await planning.reset({ contacts: CONTACTS });
  const first = await scene.enter({ customNumber: "INV-1001" });
  const looks = await scene.enter({ customNumber: "INV-1OO1", totalAmountCents: 70_000 });
  const added = await scene.enter({ customNumber: "2026-INV-1001-R", issueDate: "2026-01-01" });
  const runId = await scene.plan();
  for (const id of [looks, added]) {
    expect((await scene.flag(runId, id, "likely-duplicate"))?.twins).toContain(first);
  }
});

test("an invoice is compared with those that were voided or declined", async ({ scene }) => {
  for (const [status, totalAmountCents] of [
    ["void", 1_000],
    ["declined", 2_000],
  ] as const) {
    const gone = await scene.enter({ customNumber: `N-${status}`, status: "approved" });
    await scene.world.sandbox.control.changePayable(gone, { status });
    const again = await scene.enter({ customNumber: `N-${status}`, totalAmountCents });
    const flag = await scene.flag(await scene.plan(undefined, [again]), again, "likely-duplicate");
    expect(flag?.twins).toEqual([gone]);
    expect(flag?.text).toContain(status);
  }
});

test("an invoice is compared with those of a vendor that was archived or revoked meanwhile", async ({
  planning,
  scene,
}) => {
  for (const status of ["archived", "revoked"]) {
    await planning.reset({ contacts: CONTACTS });
    const first = await scene.enter({ customNumber: "INV-7", contactId: "v3" });
    await scene.world.sandbox.control.changeContact("v3", { status });
    const again = await scene.enter({ customNumber: "INV-7" });
    const runId = await scene.plan(undefined, [first, again]);
    expect((await scene.flag(runId, again, "likely-duplicate"))?.twins).toEqual([first]);
    await expect(scene.line(runId, first)).rejects.toThrow("has no line of");
    await scene.cancel(runId);
  }
});

test("two like bills that were approved together are not flagged again; one that was left out as the duplicate is", async ({
  scene,
}) => {
  const [cora, olga] = [
    await scene.gateway.token("Cora", ["controller"]),
    await scene.gateway.token("Olga", ["owner"]),
  ];
  const pair = [await scene.enter({ customNumber: "7" }), await scene.enter({ customNumber: "7" })];
  const third = await scene.enter({ customNumber: "7", contactId: "v2" });
  await scene.world.sandbox.control.changeContact("v2", { displayName: "One Inc." });
  const runId = await scene.plan();
  await scene.decide(runId, cora, { drop: [third] });
  await scene.decide(runId, olga);
  await scene.cancel(runId);
  const next = await scene.plan();
  for (const id of pair) {
    expect((await scene.flag(next, id, "likely-duplicate"))?.twins ?? []).not.toContain(
      pair.find((other) => other !== id),
    );
  }
  expect((await scene.flag(next, third, "likely-duplicate"))?.twins).toEqual(
    expect.arrayContaining(pair),
  );
});
