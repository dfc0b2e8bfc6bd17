import type { ChildProcess } from "node:child_process";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { NODE_PACKAGES } from "../../scripts/setup/node.mjs";
import { trust } from "../../scripts/setup/trusted-files.mjs";
import { FakeMachine, WORKING_CLI } from "./fakes.ts";

const MAIN = `
process.on("SIGTERM", () => process.exit(7));
const said: Record<string, unknown> = {
  version: process.versions.node,
  args: process.argv.slice(2),
  cli: process.env["TEMPORAL_CLI"],
};
console.log(JSON.stringify(said));
if (said.args[0] === "stay") setInterval(() => {}, 1000);
if (said.args[0] === "fail") process.exitCode = 3;
`;

const INSTALLS = "mkdir -p node_modules/left\n";

let machine: FakeMachine;
let root: string;

beforeEach(() => {
  machine = new FakeMachine();
  root = machine.checkout(MAIN);
  machine.program("npm", INSTALLS);
});

afterEach(() => machine.remove());

function start(args: readonly string[], node = process.execPath, env = {}): ChildProcess {
  return spawn(node, [join(root, "bin", "payrun.mjs"), ...args], {
    cwd: root,
    env: { ...machine.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function run(args: readonly string[], node?: string, env?: object) {
  const child = start(args, node, env);
  const ended = once(child, "exit");
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await ended;
  return { code: child.exitCode, stdout, stderr };
}

const textOf = (stream: ChildProcess["stdout"]): Promise<string> =>
  stream ? text(stream) : Promise.resolve("");

test("missing parts are set up, then the command runs with its own arguments", async () => {
  const cli = machine.program("temporal", WORKING_CLI);
  const { code, stdout, stderr } = await run(["demo", "--once", "--fresh"]);
  expect(JSON.parse(stdout)).toMatchObject({ args: ["demo", "--once", "--fresh"], cli });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^setup: installing the packages \(npm ci\)\nsetup: packages installed/);
});

test("the second start prints nothing and does not run npm", async () => {
  machine.program("temporal", WORKING_CLI);
  await run(["demo"]);
  const before = machine.calls().filter((call) => call.startsWith("npm"));
  const { stderr } = await run(["demo"]);
  expect(stderr).toBe("");
  expect(machine.calls().filter((call) => call.startsWith("npm"))).toEqual(before);
});

test("standard output and the exit code are the command's own", async () => {
  const { code, stdout } = await run(["fail"]);
  expect(code).toBe(3);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
});

test("commands that start no Temporal server need no Temporal CLI", async () => {
  for (const args of [["status"], ["up", "--no-temporal"], ["demo", "--help"]]) {
    expect(await run(args), args.join(" ")).toMatchObject({ code: 0 });
  }
  expect(existsSync(join(machine.cache, "temporal-cli"))).toBe(false);
});

test("if no Temporal CLI can be set up, the command exits with 4 and says what to install", async () => {
  const { code, stdout, stderr } = await run(["demo"]);
  expect(code).toBe(4);
  expect(stdout).toBe("");
  const lines = stderr.trimEnd().split("\n");
  expect(lines.every((line) => line.startsWith("setup: "))).toBe(true);
  expect(stderr).toMatch(/no Temporal CLI on the PATH or in /);
  expect(stderr).toMatch(/the Temporal CLI can't be downloaded: /);
  expect(stderr).toMatch(/Go can't build the Temporal CLI: /);
  expect(lines.at(-1)).toMatch(/Install one .* or Go, or set TEMPORAL_CLI/);
});

test("packages that can't be installed cause exit code 4 with npm's reason and no stack trace", async () => {
  machine.program("npm", 'echo "npm error code ECONNREFUSED" >&2\nexit 1\n');
  const { code, stderr } = await run(["status"]);
  expect(code).toBe(4);
  expect(stderr).toMatch(/can't be installed: npm ci: code ECONNREFUSED/);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test("a TEMPORAL_CLI in .env runs as the program would use it: only if the file is trusted", async () => {
  const cli = machine.file("elsewhere/temporal", noted(WORKING_CLI));
  const text = `TEMPORAL_CLI=${cli}\n`;
  const path = machine.file("checkout/.env", text);
  const runs = () => machine.calls().filter((call) => call.startsWith("elsewhere"));
  const found = async () => (JSON.parse((await run(["demo"])).stdout) as { cli?: string }).cli;
  // The program then says what is missing.
  expect([await found(), runs()]).toEqual([undefined, []]);
  trustAs(machine, path, text);
  expect(await found()).toBe(cli);
  expect(runs()).not.toEqual([]);
});

test("while a token comes from the environment, no TEMPORAL_CLI of an .env runs, trusted or not", async () => {
  const onPath = machine.program("temporal", WORKING_CLI);
  const text = `TEMPORAL_CLI=${machine.file("elsewhere/temporal", noted(WORKING_CLI))}\n`;
  trustAs(machine, machine.file("checkout/.env", text), text);
  const { stdout } = await run(["demo"], process.execPath, { PAYRUN_TOKEN: "a token" });
  expect(JSON.parse(stdout)).toMatchObject({ cli: onPath });
  expect(machine.calls()).not.toContainEqual(expect.stringMatching(/^elsewhere/));
});

/** Returns the program with a record of each of its calls. */
function noted(program: string): string {
  return program.replace("\n", '\necho "elsewhere $*" >> "$CALLS"\n');
}

/** Trusts a file as the user of this machine. */
function trustAs({ env }: FakeMachine, path: string, text: string): void {
  vi.stubEnv("HOME", env["HOME"]);
  vi.stubEnv("XDG_CONFIG_HOME", "");
  trust(path, text);
  vi.unstubAllEnvs();
}

/**
 * Returns a Node between 20 and 24 if this machine has one; otherwise the Node that runs the tests.
 */
function oldestNode(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const nodes = [...folders, "/usr/bin", "/usr/local/bin"].map((folder) => join(folder, "node"));
  const isOld = (node: string): boolean => {
    if (!existsSync(node)) return false;
    const major = Number(/^v(\d+)/.exec(execFileSync(node, ["--version"]).toString())?.[1]);
    return major >= 20 && major < 24;
  };
  return nodes.find(isOld) ?? process.execPath;
}

/** Makes this checkout accept another Node as the pinned one. */
function pin(sha256: string, instead: string): void {
  const path = join(root, "scripts", "setup", "node.mjs");
  writeFileSync(path, readFileSync(path, "utf8").replace(sha256, instead));
}

/** Returns an npm whose Node package is the Node that runs the tests, under the wanted version. */
function npmWithNode(): string {
  const wanted = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const { name, version } = wanted ?? {};
  const node = `#!/bin/sh
[ "$1" = "--version" ] && { echo "v${version}"; exit 0; }
exec "${process.execPath}" "$@"
`;
  pin(wanted?.sha256 ?? "", createHash("sha256").update(node).digest("hex"));
  return `
if [ "$1" = "ci" ]; then ${INSTALLS.trim()}; exit 0; fi
while [ $# -gt 0 ]; do [ "$1" = "--prefix" ] && prefix="$2"; shift; done
mkdir -p "$prefix/node_modules/${name}/bin"
cat > "$prefix/node_modules/${name}/bin/node" <<'NODE'
${node}NODE
chmod +x "$prefix/node_modules/${name}/bin/node"
`;
}

test("under an older Node the same command runs with a Node 24 from npm", async () => {
  machine.program("npm", npmWithNode());
  const { code, stdout } = await run(["fail", "--json"], oldestNode());
  expect(code).toBe(3);
  const said = JSON.parse(stdout) as { version: string; args: string[] };
  expect(Number(said.version.split(".")[0])).toBeGreaterThanOrEqual(24);
  expect(said.args).toEqual(["fail", "--json"]);
});

test("a signal reaches the command even under an older Node", async () => {
  machine.program("npm", npmWithNode());
  const child = start(["stay"], oldestNode());
  const ended = once(child, "exit");
  await once(child.stdout ?? child, "data");
  child.kill("SIGTERM");
  expect(await ended).toEqual([7, null]);
});

test("an older Node that is killed leaves no process behind", async () => {
  machine.program("npm", npmWithNode());
  const child = start(["stay"], oldestNode());
  const { stdout } = child;
  if (!stdout) throw new Error("the command has no standard output");
  await once(stdout, "data");
  const closed = once(stdout, "close");
  const ended = once(child, "exit");
  stdout.resume();
  child.kill("SIGKILL");
  // The stream closes when the last process that could write to it has ended.
  await closed;
  expect(await ended).toEqual([null, "SIGKILL"]);
});
