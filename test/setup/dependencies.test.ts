import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, beforeEach, expect, test } from "vitest";

import { ensureDependencies } from "../../scripts/setup/dependencies.mjs";
import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { FakeMachine, lockfile } from "./fakes.ts";

let machine: FakeMachine;
let root: string;

beforeEach(() => {
  machine = new FakeMachine();
  root = machine.checkout("");
});

afterEach(() => machine.remove());

const INSTALLS = `sleep 0.2
rm -rf node_modules
mkdir -p node_modules/left
`;

async function ensure(): Promise<void> {
  await ensureDependencies({ root, env: machine.env, log: machine.log });
}

const installs = (): number => machine.calls().filter((call) => call.startsWith("npm ")).length;

test("a fresh clone is installed once, without running any package's scripts", async () => {
  machine.program("npm", INSTALLS);
  await ensure();
  expect(machine.calls()[0]).toMatch(/^npm ci --ignore-scripts .*--include=dev/);
  expect(machine.lines).toEqual([
    "installing the packages (npm ci)",
    expect.stringMatching(/^packages installed/),
  ]);
  await ensure();
  expect(installs()).toBe(1);
  expect(machine.lines).toHaveLength(2);
});

test("a changed lockfile causes a new installation", async () => {
  machine.program("npm", INSTALLS);
  await ensure();
  writeFileSync(join(root, "package-lock.json"), lockfile("1.0.1"));
  await ensure();
  expect(installs()).toBe(2);
});

test("packages that were installed by hand are accepted if they match the lockfile", async () => {
  machine.program("npm", "exit 1\n");
  mkdirSync(join(root, "node_modules"));
  writeFileSync(join(root, "node_modules", ".package-lock.json"), lockfile("1.0.0"));
  await ensure();
  expect(installs()).toBe(0);
  writeFileSync(join(root, "package-lock.json"), lockfile("1.0.1"));
  await expect(ensure()).rejects.toThrow(SetupError);
});

test("only packages for this machine must be there", async () => {
  machine.program("npm", INSTALLS);
  const optional = (cpu: string) => ({ version: "1.0.0", optional: true, cpu: [cpu] });
  const write = (path: string, packages: Record<string, unknown>): void =>
    writeFileSync(join(root, path), JSON.stringify({ packages }));
  mkdirSync(join(root, "node_modules"));
  write("node_modules/.package-lock.json", {});
  write("package-lock.json", { "node_modules/other": optional("sparc") });
  await ensure();
  expect(installs()).toBe(0);
  write("package-lock.json", { "node_modules/this": optional(process.arch) });
  await ensure();
  expect(installs()).toBe(1);
});

test("an interrupted installation is repeated", async () => {
  machine.program("npm", "mkdir -p node_modules/left\nexit 1\n");
  await expect(ensure()).rejects.toThrow(SetupError);
  machine.program("npm", INSTALLS);
  await ensure();
  expect(installs()).toBe(2);
});

test("two simultaneous set-ups install once", async () => {
  const isWaitedFor = join(machine.folder, "is-waited-for");
  machine.program("npm", `until [ -e "${isWaitedFor}" ]; do sleep 0.05; done\n${INSTALLS}`);
  const both = Promise.all([ensure(), ensure()]);
  while (!machine.lines.join().includes("waiting for ")) await sleep(5);
  writeFileSync(isWaitedFor, "");
  await both;
  expect(installs()).toBe(1);
  expect(machine.lines.join()).toMatch(/waiting for process \d+, which installs the packages/);
});

test("a failed installation shows npm's words and what to try", async () => {
  machine.program(
    "npm",
    'echo "npm error code ENOTFOUND" >&2\necho "npm error getaddrinfo ENOTFOUND registry" >&2\nexit 1\n',
  );
  const error = await ensure().catch((reason: unknown) => reason);
  const lines = error instanceof SetupError ? error.lines : [];
  expect(lines[0]).toMatch(/npm ci: code ENOTFOUND, getaddrinfo ENOTFOUND registry/);
  expect(lines.at(-1)).toMatch(/npm ci --ignore-scripts/);
});

test("the npm that started the program is used, but not another package manager", async () => {
  const script = machine.file(
    "npm/npm-cli.js",
    `const { mkdirSync, writeFileSync } = require("node:fs");
     mkdirSync("node_modules");
     writeFileSync("node_modules/by", process.argv[2]);`,
  );
  const env = { ...machine.env, npm_execpath: script, npm_node_execpath: process.execPath };
  await ensureDependencies({ root, env, log: machine.log });
  expect(readFileSync(join(root, "node_modules", "by"), "utf8")).toBe("ci");
  rmSync(join(root, "node_modules"), { recursive: true });
  machine.program("npm", INSTALLS);
  const other = { ...machine.env, npm_execpath: "/somewhere/pnpm.cjs" };
  await ensureDependencies({ root, env: other, log: machine.log });
  expect(installs()).toBe(1);
});
