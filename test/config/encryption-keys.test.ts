import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureEncryptionKey } from "../../src/cli/home/local-keys.ts";
import { ConfigError, loadConfig } from "../../src/config.ts";

const key = randomBytes(32);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("keys are written as ID:KEY in base64 or hex, the newest first", () => {
  const text = `new:${key.toString("base64")}, old-1:${key.toString("hex")}`;
  const { encryptionKeys } = loadConfig({ PAYRUN_HOME: home(), PAYRUN_ENCRYPTION_KEYS: text });
  expect(encryptionKeys).toEqual([
    { id: "new", key },
    { id: "old-1", key },
  ]);
});

test.each([
  ["without an id", key.toString("base64")],
  ["with a key that is too short", `a:${key.subarray(1).toString("base64")}`],
  ["with an id of blanks", `a b:${key.toString("hex")}`],
])("encryption keys %s are refused without being shown", (_, text) => {
  const [problem = "", ...more] = problemsOf({ PAYRUN_ENCRYPTION_KEYS: text });
  expect(problem).toContain("PAYRUN_ENCRYPTION_KEYS (key 1) must be ID:KEY");
  expect(more).toEqual([]);
  expect(problem).not.toContain(key.toString("base64").slice(4, 20));
});

test("a key id that is given twice is refused, since a value's key would be ambiguous", () => {
  const text = `a:${key.toString("hex")},a:${randomBytes(32).toString("hex")}`;
  expect(problemsOf({ PAYRUN_ENCRYPTION_KEYS: text })).toEqual([
    "PAYRUN_ENCRYPTION_KEYS names the key id a twice",
  ]);
});

test("without the setting, keys are read from a file in Payrun's home that only its owner can read", () => {
  const folder = home();
  expect(loadConfig({ PAYRUN_HOME: folder }).encryptionKeys).toEqual([]);
  ensureEncryptionKey(folder);
  expect(statSync(join(folder, "encryption.keys")).mode & 0o777).toBe(0o600);
  const [made] = loadConfig({ PAYRUN_HOME: folder }).encryptionKeys;
  expect(made?.key).toHaveLength(32);
  ensureEncryptionKey(folder);
  expect(loadConfig({ PAYRUN_HOME: folder }).encryptionKeys).toEqual([made]);
  writeFileSync(join(folder, "encryption.keys"), "nonsense\n");
  expect(problemsOf({ PAYRUN_HOME: folder })[0]).toContain("encryption.keys");
});

test("the list of settings shows that keys are set, but never the keys", () => {
  const text = `a:${key.toString("hex")}`;
  const { settings } = loadConfig({ PAYRUN_ENCRYPTION_KEYS: text });
  expect(JSON.stringify(settings)).not.toContain(key.toString("hex"));
});
