import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { payrun, temporaryFolder } from "./cli.ts";

const copy = (from: string, to: string) =>
  payrun(["store", "copy", "--from", from, "--to", to, "--json"]);

describe("payrun store copy", () => {
  test("store copy copies a store into a new file and prints what it copied", async () => {
    const folder = temporaryFolder();
    const [from, to] = ["old", "new"].map((name) => `sqlite:${join(folder, `${name}.db`)}`);
    const store = await openStore(from ?? "");
    await createToken(store, { name: "ada", roles: [], createdBy: "test", nowMs: 1 });
    const whileOpen = await copy(from ?? "", to ?? "");
    await store.close();
    expect(whileOpen.code).toBe(1);
    expect(whileOpen.json()).toMatchObject({ error: "copy_in_use" });

    const copied = await copy(from ?? "", to ?? "");
    expect(copied.code).toBe(0);
    expect(copied.json()).toMatchObject({ rows: 3, tables: { tokens: 1, audit: 1, runs: 0 } });
    const again = await copy(from ?? "", to ?? "");
    expect(again.code).toBe(1);
    expect(again.json()).toMatchObject({ error: "copy_not_empty" });
  });

  test("store copy exits 4 for an unreachable database and doesn't print its password", async () => {
    const from = `sqlite:${join(temporaryFolder(), "old.db")}`;
    const result = await copy(from, "postgres://payrun:hush@127.0.0.1:9/payrun");
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: "store_unreachable" });
    expect(result.stdout + result.stderr).not.toContain("hush");
  });
});

test("doctor prints the database without its password, and the number of connections", async () => {
  const env = {
    PAYRUN_DATABASE_URL: "postgres://payrun:hush@127.0.0.1:9/payrun",
    PAYRUN_DATABASE_POOL: "5",
    PAYRUN_GATEWAY_URL: "http://127.0.0.1:9",
    TEMPORAL_ADDRESS: "127.0.0.1:9",
  };
  const result = await payrun(["doctor", "--json"], { env });
  expect(result.code).toBe(4);
  expect(result.stdout + result.stderr).not.toContain("hush");
  expect(result.stdout).toContain("postgres://payrun:••••••@127.0.0.1:9/payrun");
  expect(result.json()).toMatchObject({
    settings: expect.arrayContaining([
      expect.objectContaining({ name: "PAYRUN_DATABASE_POOL", value: "5" }),
    ]),
    checks: expect.arrayContaining([
      expect.objectContaining({ name: "Store", text: expect.stringContaining("nothing listens") }),
    ]),
  });
});
