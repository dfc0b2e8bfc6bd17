import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import type { KybOnboardingPlaybook } from "../../../src/contracts/playbook.ts";
import type { Store } from "../../../src/store/index.ts";
import {
  endInputs,
  insertInput,
  listAllInputs,
  listInputs,
  type OnboardingInput,
  recordHeldUp,
  recordInputSend,
} from "../../../src/store/onboarding/onboarding-inputs.ts";
import {
  endOnboarding,
  recordOnboarding,
  updateOnboarding,
} from "../../../src/store/onboarding/onboardings.ts";
import { TABLE_NAMES } from "../../../src/store/schema/tables.ts";
import { Keyring } from "../../../src/vault/keyring.ts";
import { Vault } from "../../../src/vault/vault.ts";
import { ADA, PLANTED } from "../../support/onboarding.ts";
import { testStore } from "../support.ts";

const businessId = "biz_1";
const vault = new Vault(new Keyring([{ id: "key", key: randomBytes(32) }]));

let store: Store;
beforeEach(async () => {
  ({ store } = await testStore());
  await launch();
});

async function launch(): Promise<void> {
  await store.transaction((trx) =>
    recordOnboarding(trx, {
      businessId,
      business: "acme",
      workflowId: "kyb-onboarding/acme",
      playbook: "kyb",
      playbookRevision: 1,
      policy: {} as KybOnboardingPlaybook,
      launchedBy: "lena",
      launchedByTokenId: null,
      nowMs: 1,
    }),
  );
}

function give(round = 1): Promise<OnboardingInput> {
  return store.transaction(async (trx) => {
    const vaultRef = await vault.put(trx, { businessId, kind: "officers", nowMs: 1 }, ADA);
    const input = { businessId, round, step: "officers", facts: {}, vaultRef } as const;
    return insertInput(trx, { ...input, providedBy: "olga", nowMs: 1 });
  });
}

test("an input is sent while it waits and its onboarding is under way, and not afterwards", async () => {
  const [first, second, third] = [await give(), await give(), await give()];
  expect(await recordInputSend(store.db, first, 5)).toBe(true);
  const replaced = { state: "replaced", reason: null } as const;
  await store.transaction((trx) => endInputs(trx, [second], replaced));
  expect(await recordInputSend(store.db, second, 5)).toBe(false);
  await store.transaction((trx) => endOnboarding(trx, businessId, 6));
  expect(await recordInputSend(store.db, third, 7)).toBe(false);
  // Nor in the next round: it was given in the earlier one.
  await launch();
  expect(await recordInputSend(store.db, third, 8)).toBe(false);
  expect((await listInputs(store.db, businessId, 1)).map(({ sends }) => sends)).toEqual([1, 0, 0]);
});

test("the reason that holds an input up is kept with it until the input has ended", async () => {
  const input = await give();
  const heldUp = { reason: "403", needsPerson: true };
  await recordHeldUp(store.db, input, heldUp);
  expect((await listAllInputs(store.db, businessId))[0]?.facts).toEqual({ heldUp });
  await store.transaction((trx) => endOnboarding(trx, businessId, 6));
  await recordHeldUp(store.db, input, { reason: "later", needsPerson: false });
  expect((await listAllInputs(store.db, businessId))[0]).toMatchObject({
    state: "refused",
    facts: { heldUp },
    vaultRef: null,
  });
});

test("no table shows anything that the vault keeps, and nothing is left in the vault after the end", async () => {
  await give();
  const shown = (await allRows()).join("\n");
  expect(shown).toContain("vlt_");
  const values = Object.values(PLANTED).flatMap((value) => [
    value,
    value.replaceAll("-", ""),
    Buffer.from(value).toString("base64"),
  ]);
  expect(values.filter((value) => shown.includes(value))).toEqual([]);
  await store.transaction((trx) => endOnboarding(trx, businessId, 6));
  expect((await allRows()).join("\n")).not.toContain("vlt_");
});

async function allRows(): Promise<string[]> {
  const tables = await Promise.all(
    TABLE_NAMES.map((name) => store.db.selectFrom(name).selectAll().execute()),
  );
  return tables.map((rows) => JSON.stringify(rows));
}

test("an onboarding that has ended can't be changed", async () => {
  await store.transaction((trx) => endOnboarding(trx, businessId, 6));
  await updateOnboarding(store.db, businessId, { phase: "review", needsAction: true }, 7);
  const row = await store.db.selectFrom("onboardings").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ phase: "tax", needs_action: 0 });
});
