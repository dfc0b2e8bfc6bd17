import { exec } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { packageImage, packageNeeds } from "../../src/cli/init/compose.ts";
import { examplePlaybooks, filesFor } from "../../src/cli/init/files.ts";
import { loadConfig } from "../../src/config.ts";
import { testPlaybook } from "../../src/playbooks/fixtures.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";
import { payrun, temporaryFolder } from "./cli.ts";

const run = promisify(exec);

const SANDBOX = { service: "sandbox", business: "sandbox", apiUrl: "", businessId: "" } as const;

const REAL = ["init", "--service", "real", "--api-url", "https://payments.example.com"];

interface Compose {
  readonly services: Record<
    string,
    {
      readonly depends_on?: Record<string, unknown>;
      readonly environment?: Record<string, string>;
      readonly entrypoint?: readonly string[];
      readonly command?: readonly string[];
      readonly volumes?: readonly string[];
      readonly restart?: string;
    }
  >;
}

/** Returns the compose file, after checking that the services and files it names exist. */
function composeIn(folder: string): Compose {
  const text = readFileSync(join(folder, "docker-compose.yml"), "utf8");
  const compose = parse(text, { merge: true }) as Compose;
  const names = Object.keys(compose.services);
  for (const { depends_on: needs = {}, entrypoint = [] } of Object.values(compose.services)) {
    for (const needed of Object.keys(needs)) expect(names).toContain(needed);
    const script = entrypoint[1];
    if (script !== undefined) expect(existsSync(join(folder, script))).toBe(true);
  }
  return compose;
}

test("init without a terminal or flags writes files for the sandbox and prints what to type next", async () => {
  const cwd = temporaryFolder();
  const { code, stdout } = await payrun(["init"], { cwd });
  expect(code).toBe(0);
  const steps = stdout.split("What to type next:\n")[1] ?? "";
  expect(steps).toContain("payrun up");
  expect(steps).toContain("payrun launch small-bills-next-day.yaml");
  expect(steps).toContain("payrun approve small-bills-next-day --as approver");
  expect(Object.keys(composeIn(cwd).services)).toContain("sandbox");
  const valid = await payrun(["validate", "small-bills-next-day.yaml"], { cwd });
  expect([valid.code, valid.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(".payrun/\n");
});

test("git checks the scripts that init writes out with LF, also where it turns other texts to CRLF", async () => {
  const cwd = temporaryFolder();
  await payrun(["init"], { cwd });
  const git = (args: string) =>
    run(`git -c user.name=a -c user.email=a@b.example ${args}`, { cwd });
  for (const args of ["init", "add --all", "commit --message all"]) await git(args);
  await git("clone -c core.autocrlf=true . out");
  const text = (path: string): string => readFileSync(join(cwd, "out", path), "utf8");
  expect(text("docker-compose.yml")).toContain("\r\n");
  const scripts = readdirSync(join(cwd, "docker")).filter((name) => name.endsWith(".sh"));
  expect(scripts.length).toBeGreaterThan(2);
  for (const name of scripts) expect(text(`docker/${name}`), name).not.toContain("\r");
});

test("what init writes starts again with the machine, except what ends by itself", async () => {
  for (const service of ["sandbox", "real"] as const) {
    const cwd = temporaryFolder();
    const id = service === "real" ? ["--business-id", "biz_1"] : [];
    await payrun([...(service === "real" ? REAL : ["init"]), ...id], { cwd });
    for (const [name, { restart }] of Object.entries(composeIn(cwd).services)) {
      const ends = /^(payrun-database|temporal-schema|temporal-namespace|prepare)$/.test(name);
      expect(restart, name).toBe(ends ? "no" : "unless-stopped");
    }
  }
});

test("each example playbook passes the tests that init writes beside it", async () => {
  const names = examplePlaybooks();
  expect(names.length).toBeGreaterThan(5);
  for (const playbook of names) {
    const answers = { ...SANDBOX, playbook };
    for (const approvers of [undefined, ["cfo"]]) {
      const [file, tests] = filesFor({ ...answers, approvers }, "/elsewhere");
      const loaded = loadPlaybook(file?.text ?? "", { file: `${playbook}.yaml` });
      if (!loaded.ok || loaded.playbook.kind !== "pay-run") throw new Error(`${playbook} is none`);
      const read = testPlaybook(loaded.playbook, tests?.text ?? "", tests?.path ?? "");
      if (!read.ok) throw new Error(formatProblems(read.problems));
      expect(read.results.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    }
  }
});

test("if one file can't be written, init writes none", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "docker"), "a file in the way\n");
  const { code, stderr } = await payrun(["init"], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/can't be written.*\n.*init FOLDER/)]);
  expect(readdirSync(cwd).filter((name) => name !== "home")).toEqual(["docker"]);
});

test("files for containers are readable by other users, whatever the shell's umask", async () => {
  const mask = process.umask(0o077);
  onTestFinished(() => void process.umask(mask));
  const cwd = temporaryFolder();
  expect((await payrun(["init"], { cwd })).code).toBe(0);
  expect(statSync(join(cwd, "docker")).mode & 0o777).toBe(0o755);
  expect(statSync(join(cwd, "docker/temporal-schema.sh")).mode & 0o777).toBe(0o755);
});

test("for a real service init writes profiles that load once the token's own file is there", async () => {
  const cwd = temporaryFolder();
  const flags = ["--business", "acme", "--business-id", "biz_1", "--playbook", "weekly-vendors"];
  const { code, stdout } = await payrun([...REAL, ...flags, "--approver", "cfo"], { cwd });
  expect(code).toBe(0);
  // The containers have their own store, which no command on this host can open.
  expect(stdout).toMatch(/docker compose exec gateway node \S+ token bootstrap ADA BEA/);
  expect(stdout).toMatch(/payrun up --no-sandbox[\s\S]*payrun token bootstrap ADA BEA/);
  expect(stdout).toContain("export PAYRUN_PROFILES=profiles.yaml PAYRUN_TOKEN=");
  const environment = readFileSync(join(cwd, ".env"), "utf8");
  expect(environment).toMatch(/^PAYRUN_ENCRYPTION_KEYS=key-1:/m);
  const again = await payrun([...REAL, ...flags, "--approver", "cfo"], { cwd });
  expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("add PAYRUN_ENC")]);
  expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(environment);
  expect(statSync(join(cwd, "profiles.yaml")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toContain("secrets/");

  const without = await payrun(["doctor"], { cwd });
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("payments-token")]);
  mkdirSync(join(cwd, "secrets"));
  writeFileSync(join(cwd, "secrets/payments-token"), "a token\n");
  const config = loadConfig({ PAYRUN_PROFILES: join(cwd, "profiles.yaml") });
  expect(config.profiles.all()).toMatchObject([
    { name: "acme", apiUrl: "https://payments.example.com", businessId: "biz_1", sandbox: false },
  ]);

  const { services } = composeIn(cwd);
  expect(Object.keys(services)).not.toContain("sandbox");
  expect(Object.keys(services)).not.toContain("prepare");
  for (const name of ["worker", "gateway"]) {
    expect(services[name]?.environment?.["PAYRUN_PROFILES"]).toBe("/config/profiles.yaml");
    expect(services[name]?.volumes).toContain(".:/config:ro");
    expect(services[name]?.environment?.["PAYRUN_ENCRYPTION_KEYS"]).toContain(":?");
  }
  expect(services["edge"]?.command?.at(-1)).toBe("gateway:8088");
  const playbook = parse(readFileSync(join(cwd, "weekly-vendors.yaml"), "utf8")) as object;
  expect(playbook).toMatchObject({ approve: [{ by: ["cfo"] }], late: "ask" });
  expect((await payrun(["validate", "weekly-vendors.yaml"], { cwd, env: {} })).code).toBe(0);
});

test("init overwrites existing files only with --force, and says so", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "docker-compose.yml"), "mine: true\n");
  const refused = await payrun(["init"], { cwd });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/docker-compose.yml is there already; nothing was written[\s\S]*--force/),
  ]);
  expect(existsSync(join(cwd, "small-bills-next-day.yaml"))).toBe(false);
  const forced = await payrun(["init", "--force"], { cwd });
  expect(forced.stdout).toContain("✓ docker-compose.yml  (overwritten)");
  // The same files again change nothing, so init doesn't refuse.
  expect((await payrun(["init"], { cwd })).code).toBe(0);
});

test("init keeps an existing .gitignore and .env, and says what to add to them", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, ".gitignore"), "node_modules\n");
  writeFileSync(join(cwd, ".env"), "PAYRUN_ENCRYPTION_KEYS=mine:abc\n");
  const { code, stdout } = await payrun([...REAL, "--business-id", "biz_1"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/! \.gitignore is there: add .*secrets/);
  expect(stdout).toMatch(
    /! \.env is there: add PAYRUN_PROFILES=profiles\.yaml to it, then type .*payrun trust/,
  );
  expect((await payrun(["doctor"], { cwd })).stderr).toMatch(/\.env isn't trusted yet/);
  expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("PAYRUN_ENCRYPTION_KEYS=mine:abc\n");
});

test("init reports all invalid answers at once, and refuses one without effect", async () => {
  const wrong = [...REAL.slice(0, 3), "--api-url", "http://far.example", "--playbook", "weekly"];
  const bad = await payrun([...wrong, "--business", "a b", "--approver", "CFO"]);
  expect(bad.code).toBe(2);
  for (const part of ["--api-url must be", "--business-id is missing", "“weekly” doesn't come"]) {
    expect(bad.stderr).toContain(part);
  }
  expect(bad.stderr).toContain("a business's name is letters");
  expect(bad.stderr).toContain("“CFO” can't be a role");
  const idle = await payrun(["init", "--business-id", "biz_1"]);
  expect([idle.code, idle.stderr]).toEqual([2, expect.stringContaining("--service real")]);
});

test("the commands that init prints run in its folder, with or without the package installed", async () => {
  const cwd = temporaryFolder();
  const folder = join(cwd, "somewhere else");
  const typed = async () => {
    const { stdout } = await payrun(["init", folder], { cwd });
    return (
      stdout
        .split("What to type next:\n")[1]
        ?.split("\n")
        .map((line) => line.trim()) ?? []
    );
  };
  const [change = "", , plan = ""] = await typed();
  const env = { ...process.env, PAYRUN_HOME: join(cwd, "home") };
  const help = run(`${change} && ${plan} --help`, { cwd, env });
  expect((await help).stdout).toContain("Usage: payrun plan");
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(folder, "node_modules/.bin/payrun"), "");
  expect((await typed())[1]).toMatch(/^npx payrun up /);
});

test("the package's image uses the archive in the folder, or else the registry, and says so", () => {
  const folder = temporaryFolder();
  expect(packageImage(folder, "1.2.3")).toMatchObject({
    dockerfile_inline: expect.stringMatching(/^RUN npm install .* payrun@1\.2\.3$/m),
  });
  expect(packageNeeds(folder, "1.2.3")).toMatch(/payrun@1\.2\.3 .*registry.*payrun-1\.2\.3\.tgz/);
  writeFileSync(join(folder, "payrun-1.2.3.tgz"), "");
  expect(packageImage(folder, "1.2.3")).toMatchObject({
    context: ".",
    dockerfile_inline: expect.stringMatching(
      /^COPY payrun-1\.2\.3\.tgz (\S+)\nRUN npm install .* \1$/m,
    ),
  });
  expect(packageNeeds(folder, "1.2.3")).toBeUndefined();
});
