import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, onTestFinished, test } from "vitest";

import { openStore } from "../../src/store/open.ts";
import { payrun, payrunProcess, storeOfAnotherVersion, temporaryFolder } from "./cli.ts";

/** A gateway address at which nothing listens: this machine's discard port. */
const NO_GATEWAY = { PAYRUN_GATEWAY_URL: "http://127.0.0.1:9" };

describe("wrong usage", () => {
  test("an unknown command exits 2 and suggests a similar one", async () => {
    const { code, stderr, stdout } = await payrunProcess(["validat", "x.yaml"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("unknown command 'validat'");
    expect(stderr).toContain("Did you mean validate?");
  });

  test("an unknown option exits 2, with one JSON document if --json is given", async () => {
    const result = await payrun(["status", "--jso", "--json"]);
    expect(result.code).toBe(2);
    expect(result.json()).toMatchObject({ error: "usage" });
    expect(result.stderr).toContain("unknown option '--jso'");
  });

  test("a command that doesn't exist yet is an unknown command", async () => {
    const later = ["refund", "settle"];
    const results = await Promise.all(later.map((command) => payrun([command])));
    expect(results.map(({ code }) => code)).toEqual(later.map(() => 2));
  });

  test("no command shows the help and exits 2, --help exits 0", async () => {
    const [without, asked] = await Promise.all([payrunProcess([]), payrunProcess(["--help"])]);
    expect(without.code).toBe(2);
    expect(asked.code).toBe(0);
    for (const command of ["up", "demo", "validate", "launch", "resolve", "token", "doctor"]) {
      expect(asked.stdout).toContain(command);
    }
  });

  test("each command has its own help", async () => {
    const { code, stdout } = await payrun(["launch", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("--wait");
  });

  test("invalid settings exit 2 and are all listed", async () => {
    const env = { PAYRUN_GATEWAY_PORT: "many", PAYRUN_SANDBOX_PORT: "99999999" };
    const { code, stderr } = await payrun(["status"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("PAYRUN_GATEWAY_PORT");
    expect(stderr).toContain("PAYRUN_SANDBOX_PORT");
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test.each([
    [["hold", "--reason", "x"], "exactly one thing to hold"],
    [["hold", "pbl_1", "--all", "--reason", "x"], "exactly one thing to hold"],
    [["resolve", "pbl_1", "--reason", "x"], "exactly one of --retry"],
    [["resolve", "--retry", "--reason", "x"], "either bills or --reason-code"],
    [["launch", "weekly", "--timeout", "soon"], "--timeout must be a duration"],
    [["launch", "weekly", "--input", "novalue"], "--input must be key=value"],
    [["report", "weekly", "--csv", "--json"], "--csv and --json"],
    [["plan", "weekly", "--all", "--summary"], "--all and --summary"],
    [["report"], "report needs a run, or --from and --to"],
    [["report", "--from", "2026-11-01"], "report needs a run, or --from and --to"],
    [["report", "rent", "--to", "2026-11-30"], "report of a run takes no --to"],
    [
      ["report", "--from", "2026-11-01", "--to", "2026-11-30", "--bank-csv"],
      "--bank-csv is a table of one run",
    ],
    [["token", "create", "ann"], "a token needs a role"],
    [["token", "create", "ann", "--role", "Not A Role"], "can't be a role"],
  ])("payrun %j exits 2 and says what is expected", async (args, words) => {
    const { code, stderr } = await payrun(args, { env: NO_GATEWAY });
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });
});

describe("what can't be reached", () => {
  test("a command without a gateway exits 4 and says how to start one", async () => {
    const result = await payrun(["status", "--json"], { env: NO_GATEWAY });
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: "gateway_unreachable" });
    expect(result.stderr).toContain("http://127.0.0.1:9");
    expect(result.stderr).toContain("payrun up");
  });

  test("a server that is not a gateway is recognized as such, with exit code 4", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<p>hello</p>");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const env = { PAYRUN_GATEWAY_URL: `http://127.0.0.1:${port}` };
    const { code, stderr } = await payrun(["status"], { env });
    expect(code).toBe(4);
    expect(stderr).toContain("not a Payrun gateway");
  });

  test("a command without a store exits 4 and says that the store is missing", async () => {
    const result = await payrun(["token", "list", "--json"]);
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: "store_missing" });
    expect((await payrun(["token", "list"])).stderr).not.toMatch(/\n\s+at /);
  });

  test("a database of another program exits 4", async () => {
    const cwd = temporaryFolder();
    const path = join(cwd, "theirs.db");
    const theirs = new DatabaseSync(path);
    theirs.exec("CREATE TABLE recipes (name TEXT)");
    theirs.close();
    const env = { PAYRUN_DATABASE_URL: `sqlite:${path}` };
    const result = await payrun(["token", "list", "--json"], { cwd, env });
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: "store_foreign" });
  });

  test("a store of another version exits 4, and doctor says to move the file away", async () => {
    const cwd = temporaryFolder();
    const env = { PAYRUN_DATABASE_URL: `sqlite:${storeOfAnotherVersion(cwd)}` };
    const result = await payrun(["token", "list", "--json"], { cwd, env });
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: "store_incompatible" });
    const doctor = await payrun(["doctor"], { cwd, env: { ...NO_GATEWAY, ...env } });
    expect(doctor.code).toBe(4);
    expect(doctor.stdout).toContain("move the file away");
    expect(doctor.stdout).not.toContain("restore its backup");
  });

  test("doctor without a store, Temporal or a gateway exits 4 and still lists everything", async () => {
    const result = await payrun(["doctor", "--json"], {
      env: { ...NO_GATEWAY, TEMPORAL_ADDRESS: "127.0.0.1:9", PAYRUN_TOKEN: "payrun_secret" },
    });
    expect(result.code).toBe(4);
    const { settings, checks } = result.json<{
      settings: { name: string; value: string }[];
      checks: { name: string; state: string }[];
    }>();
    expect(settings.map(({ name }) => name)).toContain("PAYRUN_TOKEN");
    expect(result.stdout + result.stderr).not.toContain("payrun_secret");
    const failed = checks.filter(({ state }) => state === "failed").map(({ name }) => name);
    expect(failed).toEqual(["Store", "Temporal", "Gateway"]);
  });
});

describe("playbooks, offline", () => {
  const valid = "kind: pay-run\nselect: { due: within 7 days }\n";

  test("validate reports every mistake with file, line, column, a caret and a suggestion", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "good.yaml"), valid);
    writeFileSync(join(cwd, "bad.yaml"), "kind: pay-run\nselekt: { due: all }\nlate: nevr\n");
    const { code, stdout, stderr } = await payrun(["validate", "good.yaml", "bad.yaml"], { cwd });
    expect(code).toBe(2);
    expect(stdout).toContain("good.yaml");
    expect(stderr).toMatch(/bad\.yaml:2:1 /);
    expect(stderr).toMatch(/bad\.yaml:3:7 /);
    expect(stderr).toContain("^");
    expect(stderr).toContain("select");
  });

  test("validate warns of what is probably not meant, with its line, and exits 0", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "odd.yaml"), "kind: pay-run\nreview: [new-vendor]\n");
    const { code, stderr } = await payrun(["validate", "odd.yaml"], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain("odd.yaml: line 2: no rule of `approve` has `when: review`");
    const { json } = await payrun(["validate", "odd.yaml", "--json"], { cwd });
    expect(json()).toMatchObject({
      playbooks: [{ warnings: [expect.stringMatching(/^line 2: /)] }],
    });
  });

  test("validate --json names the file of every mistake in one document", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "good.yaml"), valid);
    const good = await payrun(["validate", "good.yaml", "--json"], { cwd });
    expect(good.code).toBe(0);
    expect(good.json()).toMatchObject({ ok: true, playbooks: [{ name: "good", problems: [] }] });
    const missing = await payrun(["validate", "none.yaml", "--json"], { cwd });
    expect(missing.code).toBe(2);
    expect(missing.json()).toMatchObject({
      ok: false,
      playbooks: [{ ok: false, problems: [{ file: "none.yaml" }] }],
    });
  });

  test("apply --check finds mistakes without a gateway, and needs the gateway for the rest", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "good.yaml"), valid);
    writeFileSync(join(cwd, "bad.yaml"), "kind: pay-run\nselekt: {}\n");
    const check = async (file: string) =>
      (await payrun(["apply", file, "--check", "--json"], { cwd, env: NO_GATEWAY })).code;
    expect(await check("bad.yaml")).toBe(2);
    expect(await check("good.yaml")).toBe(4);
  });

  test("apply, plan and launch exit 2 for a file with a mistake and don't send it", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "bad.yaml"), "kind: pay-run\nselekt: {}\n");
    for (const command of ["apply", "plan", "launch"]) {
      const { code, stderr } = await payrun([command, "bad.yaml"], { cwd, env: NO_GATEWAY });
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(stderr).toContain("bad.yaml:2:1");
    }
  });

  test("a folder stands for the playbooks in it, without their test files", async () => {
    const cwd = temporaryFolder();
    for (const file of ["one.yaml", "two.yml", "three.yaml"]) writeFileSync(join(cwd, file), valid);
    writeFileSync(join(cwd, "one.test.yaml"), "tests: []\n");
    writeFileSync(join(cwd, "readme.md"), "none\n");
    for (const files of [["."], ["one.test.yaml", "one.yaml", "three.yaml", "two.yml"]]) {
      const result = await payrun(["validate", ...files, "--json"], { cwd });
      const { playbooks } = result.json<{ playbooks: { name: string }[] }>();
      expect(playbooks.map(({ name }) => name)).toEqual(["one", "three", "two"]);
    }
    // The files that payrun init writes beside its playbook.
    writeFileSync(join(cwd, "profiles.yaml"), "# Mine.\nbusinesses:\n  acme: {}\n");
    writeFileSync(join(cwd, "docker-compose.yml"), "name: payrun\nservices:\n  worker: {}\n");
    expect((await payrun(["validate", "."], { cwd })).code).toBe(0);
    expect((await payrun(["validate", "profiles.yaml"], { cwd })).code).toBe(2);
    mkdirSync(join(cwd, "none"));
    expect((await payrun(["validate", "none"], { cwd })).stderr).toContain("none has no playbooks");
  });

  test("apply of several files reports all their mistakes, and refuses two with the same name", async () => {
    const cwd = temporaryFolder();
    for (const file of ["bad.yaml", "worse.yaml"]) {
      writeFileSync(join(cwd, file), "kind: pay-run\nselekt: {}\n");
    }
    const wrong = await payrun(["apply", "bad.yaml", "worse.yaml"], { cwd, env: NO_GATEWAY });
    expect(wrong.stderr).toMatch(/bad\.yaml:2:1[^]*worse\.yaml:2:1/);
    for (const file of ["same.yaml", "same.yml"]) writeFileSync(join(cwd, file), valid);
    for (const flags of [[], ["--check"]]) {
      const twice = await payrun(["apply", "same.yaml", "same.yml", ...flags], {
        cwd,
        env: NO_GATEWAY,
      });
      expect(twice.code).toBe(2);
      expect(twice.stderr).toContain("same.yaml and same.yml are both named “same”");
    }
  });

  test("schema prints a JSON Schema of draft 7", async () => {
    const { code, json } = await payrun(["schema"]);
    expect(code).toBe(0);
    expect(json<{ $schema: string }>().$schema).toContain("draft-07");
  });
});

describe("tokens", () => {
  async function storeIn(cwd: string): Promise<void> {
    mkdirSync(join(cwd, "home"), { recursive: true });
    await (await openStore(`sqlite:${join(cwd, "home", "payrun.db")}`)).close();
  }

  test("token create shows the secret once, list never shows it, and revoke ends the token", async () => {
    const cwd = temporaryFolder();
    await storeIn(cwd);
    const args = ["token", "create", "olivia", "--role", "owner", "--role", "viewer"];
    const made = await payrun([...args, "--expires", "30d", "--json"], { cwd });
    expect(made.code).toBe(0);
    const { id, token } = made.json<{ id: string; token: string }>();
    expect(token).toMatch(/^payrun_/);
    expect(made.stderr).not.toContain(token);
    const listed = await payrun(["token", "list", "--json"], { cwd });
    expect(listed.json()).toMatchObject({
      items: [{ id, name: "olivia", roles: ["owner", "viewer"], revokedAt: null }],
    });
    expect(listed.stdout).not.toContain(token);
    expect((await payrun(["token", "revoke", "olivia"], { cwd })).code).toBe(0);
    const after = await payrun(["token", "list"], { cwd });
    expect(after.stdout).toContain("revoked");
    expect((await payrun(["token", "revoke", "tok_none"], { cwd })).code).toBe(1);
  });

  test("a token with a role that looks mistyped is created with a warning", async () => {
    const cwd = temporaryFolder();
    await storeIn(cwd);
    const create = (role: string) => payrun(["token", "create", "cora", "--role", role], { cwd });
    expect((await create("contoller")).stderr).toContain("did you mean controller?");
    for (const role of ["controller", "treasury"]) {
      expect((await create(role)).stderr).not.toContain("did you mean");
    }
  });

  test("a token's maker is the owner of the token that the command carries", async () => {
    const cwd = temporaryFolder();
    await storeIn(cwd);
    const create = (name: string, env = {}) =>
      payrun(["token", "create", name, "--role", "owner", "--json"], { cwd, env });
    const { token } = (await create("olivia")).json<{ token: string }>();
    await create("another", { PAYRUN_TOKEN: token });
    const { items } = (await payrun(["token", "list", "--json"], { cwd })).json<{
      items: { name: string; createdBy: string }[];
    }>();
    expect(items.map(({ name, createdBy }) => [name, createdBy])).toEqual([
      ["olivia", "local-admin"],
      ["another", "olivia"],
    ]);
  });
});
