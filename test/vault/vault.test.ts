import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { deleteVaultRows, getVaultRow } from "../../src/store/onboarding/vault.ts";
import { Keyring, VaultError } from "../../src/vault/keyring.ts";
import { Vault } from "../../src/vault/vault.ts";
import { testStore } from "../store/support.ts";

const oldKey = { id: "2025", key: randomBytes(32) };
const newKey = { id: "2026", key: randomBytes(32) };
const SSN = "321-54-9876";
const of = { businessId: "biz_1", kind: "onboarding-officers", nowMs: 1 };

test("a value is read back as it was, and its row and the store's files don't show it", async () => {
  const { store, url } = await testStore();
  const vault = new Vault(new Keyring([newKey]));
  const ref = await vault.put(store.db, of, { ssn: SSN, name: "Zoë" });
  expect(await vault.get(store.db, ref)).toEqual({ ssn: SSN, name: "Zoë" });
  expect(JSON.stringify(await getVaultRow(store.db, ref))).not.toContain(SSN);
  expect(ref).toMatch(/^vlt_[\da-f-]{36}$/);
  if (!url.startsWith("sqlite:")) return;
  const folder = dirname(url.slice("sqlite:".length));
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(folder, file)).includes(SSN), file).toBe(false);
  }
});

test("the same value is never encrypted to the same ciphertext", () => {
  const keyring = new Keyring([newKey]);
  const sealed = [1, 2, 3].map(() => keyring.seal(Buffer.from(SSN), "label").ciphertext);
  expect(new Set(sealed).size).toBe(3);
});

test("a value that was encrypted for one row can't be read from another", async () => {
  const { store } = await testStore();
  const vault = new Vault(new Keyring([newKey]));
  const mine = await vault.put(store.db, of, "mine");
  const theirs = await vault.put(store.db, { ...of, businessId: "biz_2" }, "theirs");
  const { nonce, ciphertext } = (await getVaultRow(store.db, theirs)) ?? {};
  await store.db
    .updateTable("vault")
    .set({ nonce: nonce ?? "", ciphertext: ciphertext ?? "" })
    .where("vault_ref", "=", mine)
    .execute();
  await expect(vault.get(store.db, mine)).rejects.toMatchObject({ code: "not_authentic" });
  expect(await vault.get(store.db, theirs)).toBe("theirs");
});

test("a changed bit is detected, wherever it is", () => {
  const keyring = new Keyring([newKey]);
  const sealed = keyring.seal(Buffer.from(SSN), "label");
  const bytes = Buffer.from(sealed.ciphertext, "base64");
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const other = { ...sealed, ciphertext: changed.toString("base64") };
    expect(() => keyring.open(other, "label")).toThrow(VaultError);
  }
  const cut = { ...sealed, ciphertext: bytes.subarray(0, 8).toString("base64") };
  expect(() => keyring.open(cut, "label")).toThrow(VaultError);
});

test("the first key encrypts, an older one still decrypts, and after rotating the older one may go", async () => {
  const { store } = await testStore();
  const ref = await new Vault(new Keyring([oldKey])).put(store.db, of, SSN);
  const both = new Vault(new Keyring([newKey, oldKey]));
  expect(await both.get(store.db, ref)).toBe(SSN);
  const only = new Vault(new Keyring([newKey]));
  await expect(only.get(store.db, ref)).rejects.toThrow("the key “2025”, which this process");
  await expect(only.rotate(store.db, of.businessId)).rejects.toMatchObject({ code: "unknown_key" });
  expect(await both.rotate(store.db, of.businessId)).toBe(1);
  expect(await both.rotate(store.db, of.businessId)).toBe(0);
  expect(await only.get(store.db, ref)).toBe(SSN);
});

test("without a key nothing is stored, and a deleted value is gone", async () => {
  const { store } = await testStore();
  const none = new Vault(new Keyring([]));
  await expect(none.put(store.db, of, SSN)).rejects.toThrow("PAYRUN_ENCRYPTION_KEYS");
  const vault = new Vault(new Keyring([newKey]));
  const ref = await vault.put(store.db, of, SSN);
  await deleteVaultRows(store.db, [ref]);
  await expect(vault.get(store.db, ref)).rejects.toMatchObject({ code: "missing" });
});
