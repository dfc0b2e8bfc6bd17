import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, test } from "vitest";

import { appendAudit } from "../../src/store/audit/audit.ts";
import { openStore } from "../../src/store/open.ts";
import { checkTrail } from "../support/check-trail.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";
import { payrun, temporaryFolder } from "./cli.ts";

/** The address of a Temporal server that doesn't exist. */
const NOWHERE = { TEMPORAL_ADDRESS: "127.0.0.1:1" };

async function trail(): Promise<{ env: Record<string, string>; cwd: string; file: string }> {
  const cwd = temporaryFolder();
  const file = join(cwd, "payrun.db");
  const store = await openStore(`sqlite:${file}`);
  await store.transaction(async (trx) => {
    for (let at = 1; at <= 3; at += 1) {
      await appendAudit(trx, {
        businessId: "biz_1",
        nowMs: Date.parse(`2026-11-0${at}T10:00:00Z`),
        actor: "lena",
        action: "held",
        subject: `pay_${at}`,
        details: { reason: "Disputed." },
      });
    }
  });
  await store.close();
  return { env: { ...NOWHERE, PAYRUN_DATABASE_URL: `sqlite:${file}` }, cwd, file };
}

describe("audit verify", () => {
  test("audit verify exits 0 for a whole trail and prints its end and what it couldn't compare", async () => {
    const { env, cwd } = await trail();
    const profile = {
      PAYMENTS_API_URL: "http://127.0.0.1:1",
      PAYMENTS_API_TOKEN: "t",
      PAYMENTS_BUSINESS_ID: "biz_1",
    };
    const result = await payrun(["audit", "verify"], { env: { ...env, ...profile }, cwd });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain("✓ default biz_1: 3 entries, whole");
    expect(result.stdout).toMatch(/its end is [0-9a-f]{64}/);
    expect(result.stdout).toContain("Temporal can't be asked");
  });

  test("audit verify exits 1 and names the entry that was changed", async () => {
    const { env, cwd, file } = await trail();
    const db = new DatabaseSync(file);
    db.exec("DROP TRIGGER audit_no_update; UPDATE audit SET actor = 'mallory' WHERE audit_id = 2");
    db.close();
    const result = await payrun(["audit", "verify"], { env, cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain("✗ biz_1: 3 entries, 1 problem");
    expect(result.stdout).toContain(
      "2026-11-02 05:00:00 New York  Entry 2 is not what was written",
    );
    const asJson = await payrun(["audit", "verify", "--json"], { env, cwd });
    expect(asJson.json()).toMatchObject({
      ok: false,
      businesses: [{ businessId: "biz_1", problems: [{ auditId: 2, kind: "changed" }] }],
    });
  });

  test("audit verify exits 1 and names the row that no entry explains", async () => {
    const { env, cwd, file } = await trail();
    const db = new DatabaseSync(file);
    db.exec(`INSERT INTO holds (hold_id, business_id, scope, value, reason, author, author_kind,
      roles, created_at_ms) VALUES ('hold_1', 'biz_1', 'all', '', 'x', 'mallory', 'principal', '[]', 1)`);
    db.close();
    const result = await payrun(["audit", "verify"], { env, cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain(
      "holds hold_1 is in the store, and the trail has no entry of it",
    );
  });

  test("audit verify finds a cut-off end, by the store's record or by an earlier --head", async () => {
    const { env, cwd, file } = await trail();
    const before = await payrun(["audit", "head", "--json"], { env, cwd });
    const [end] = before.json<{ items: { hash: string }[] }>().items;
    expect(end).toMatchObject({ businessId: "biz_1", entries: 3, at: "2026-11-03T10:00:00.000Z" });
    const head = end?.hash ?? "";
    const whole = await payrun(["audit", "verify", "--head", head], { env, cwd });
    expect(whole.code).toBe(0);
    expect(whole.stdout).toContain(`it still has the entry of --head ${head}`);
    const db = new DatabaseSync(file);
    db.exec("DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE audit_id = 3");
    db.close();
    const plain = await payrun(["audit", "verify"], { env, cwd });
    expect(plain.code).toBe(1);
    expect(plain.stdout).toContain("entries were cut off after entry 2");
    const forged = new DatabaseSync(file);
    forged.exec(
      "UPDATE audit_ends SET entries = 2, hash = (SELECT max(hash) FROM audit WHERE audit_id = 2)",
    );
    forged.close();
    expect((await payrun(["audit", "verify"], { env, cwd })).code).toBe(0);
    const result = await payrun(["audit", "verify", "--head", head], { env, cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toContain(`Whoever noted --head has seen an entry with hash ${head}`);
    expect(result.stdout).toContain(`it does not have the entry of --head ${head}`);
  });

  test("audit verify finds a deleted trail, by an earlier --head even without the store's record", async () => {
    const { env, cwd, file } = await trail();
    const head = "a".repeat(64);
    const db = new DatabaseSync(file);
    db.exec("DROP TRIGGER audit_no_delete; DELETE FROM audit");
    const gone = await payrun(["audit", "verify"], { env, cwd });
    expect(gone.code).toBe(1);
    expect(gone.stdout).toContain("✗ biz_1: 0 entries, 1 problem");
    db.exec("DELETE FROM audit_ends");
    db.close();
    const named = { ...env, PAYMENTS_API_URL: "http://127.0.0.1:1", PAYMENTS_API_TOKEN: "t" };
    const profile = { ...named, PAYMENTS_BUSINESS_ID: "biz_1" };
    const nothing = await payrun(["audit", "verify"], { env: profile, cwd });
    expect(nothing.stdout).toContain("There is no trail yet.");
    const noted = await payrun(["audit", "verify", "--head", head], { env: profile, cwd });
    expect(noted.code).toBe(1);
    expect(noted.stdout).toContain("cut off from its first on");
  });

  test("audit verify and export cover the store's own trail of created and revoked tokens", async () => {
    const { env, cwd } = await trail();
    const made = await payrun(["token", "create", "cora", "--role", "owner", "--json"], {
      env,
      cwd,
    });
    const { id, token } = made.json<{ id: string; token: string }>();
    expect((await payrun(["token", "revoke", "cora"], { env, cwd })).code).toBe(0);
    const result = await payrun(["audit", "verify", "--head", "a".repeat(64)], { env, cwd });
    expect(result.stdout).toContain("✗ biz_1: 3 entries, 1 problem");
    expect(result.stdout).toContain("✓ payrun:store (the store itself): 2 entries, whole");
    // A business's export doesn't contain the store's own entries.
    const ofBusiness = await payrun(["audit", "export"], { env, cwd });
    expect(ofBusiness.stdout).not.toContain(id);
    const args = ["audit", "export", "--business", "payrun:store"];
    const { stdout } = await payrun(args, { env, cwd });
    expect(stdout).not.toContain(token);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { action: "token.created", actor: "local-admin", subject: id, details: { name: "cora" } },
      { action: "token.revoked", actor: "local-admin", subject: id },
    ]);
  });

  test("audit verify exits 2 for an unknown business and 4 without a store", async () => {
    const { env, cwd } = await trail();
    const unknown = await payrun(["audit", "verify", "--business", "acme"], { env, cwd });
    expect(unknown.code).toBe(2);
    expect((await payrun(["audit", "verify", "--business", "biz_1"], { env, cwd })).code).toBe(0);
    expect(unknown.stderr).toContain("no business is called “acme”");
    const none = { ...env, PAYRUN_DATABASE_URL: `sqlite:${join(cwd, "none.db")}` };
    expect((await payrun(["audit", "verify"], { env: none, cwd })).code).toBe(4);
  });
});

describe("audit export", () => {
  test("audit export prints one entry a line, or one document, or writes a new file", async () => {
    const { env, cwd } = await trail();
    const lines = (await payrun(["audit", "export"], { env, cwd })).stdout.trimEnd().split("\n");
    const first = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    expect(lines).toHaveLength(3);
    expect(first).toMatchObject({
      id: 1,
      businessId: "biz_1",
      at: "2026-11-01T10:00:00.000Z",
      actor: "lena",
      action: "held",
      subject: "pay_1",
      details: { reason: "Disputed." },
    });
    const since = await payrun(["audit", "export", "--since", "2026-11-03"], { env, cwd });
    expect(since.stdout.trimEnd().split("\n")).toHaveLength(1);
    const whole = await payrun(["audit", "export", "--json"], { env, cwd });
    expect(whole.json<{ items: unknown[] }>().items).toHaveLength(3);
    const args = ["audit", "export", "--output", "trail.jsonl"];
    expect((await payrun(args, { env, cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "trail.jsonl"), "utf8")).toBe(`${lines.join("\n")}\n`);
    const again = await payrun(args, { env, cwd });
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("trail.jsonl");
  });

  test("an export can be verified without Payrun, by the script in the docs", async () => {
    const { env, cwd, file } = await trail();
    const written = await openStore(`sqlite:${file}`);
    await written.transaction((trx) =>
      appendAudit(trx, {
        businessId: "biz_1",
        nowMs: 5,
        actor: "Åsa “the\0owner”",
        action: "noted",
        subject: 'pay_"\\\n\u2028😀',
        details: { b: 1, a: [null, 0.5, -1e21], 10: "é\u0007</script>", 2: { nested: "\ud800" } },
      }),
    );
    await written.close();
    const { stdout } = await payrun(["audit", "export"], { env, cwd });
    const verified = await payrun(["audit", "verify", "--json"], { env, cwd });
    const head = verified.json<{ businesses: { head: string }[] }>().businesses[0]?.head ?? "";
    expect(await checkTrail(stdout, cwd)).toEqual({
      code: 0,
      printed: `4 entries, whole; the end is ${head}\n`,
    });
    const lines = stdout.trimEnd().split("\n");
    const broken = [
      stdout.replace("Disputed.", "Settled."),
      lines.toSpliced(1, 1).join("\n"),
      lines.toReversed().join("\n"),
      lines.slice(1).join("\n"),
    ];
    for (const text of broken) {
      expect(await checkTrail(text, cwd)).toMatchObject({
        code: 1,
        printed: expect.stringMatching(/^entry \d/),
      });
    }
  });

  test("audit export and verify exit 2 for an invalid time or hash", async () => {
    const { env, cwd } = await trail();
    expect((await payrun(["audit", "export", "--since", "monday"], { env, cwd })).code).toBe(2);
    const head = await payrun(["audit", "verify", "--head", "f00"], { env, cwd });
    expect(head.code).toBe(2);
    expect(head.stderr).toContain("64 hexadecimal digits");
  });

  test("audit export takes a run's short name, and exits 2 for an unknown run", async () => {
    const { env, cwd, file } = await trail();
    const store = await openStore(`sqlite:${file}`);
    const { runId } = await seedRun(store, { businessId: "biz_1", lines: [planLine("p1")] });
    await store.transaction((trx) =>
      appendAudit(trx, {
        ...{ businessId: "biz_1", nowMs: 5, actor: "lou" },
        ...{ action: "run.launched", subject: runId, details: {} },
      }),
    );
    await store.close();
    const of = async (run: string) => payrun(["audit", "export", "--run", run], { env, cwd });
    const whole = (await of(runId)).stdout;
    expect(whole).toContain(runId);
    for (const name of ["weekly", runId.split("/").slice(-2).join("/")]) {
      expect((await of(name)).stdout, name).toBe(whole);
    }
    const unknown = await of("pay-run/x");
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("nothing about a run “pay-run/x”");
    const other = await of("weekly/2020-01-02");
    expect(other.stderr).toContain(`; the nearest:\n  weekly/`);
  });
});
