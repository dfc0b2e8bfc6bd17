import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { NODE_PACKAGES, findNode } from "../../scripts/setup/node.mjs";
import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { FakeMachine } from "./fakes.ts";

const PLATFORM = "linux-x64";
const WANTED = NODE_PACKAGES[PLATFORM] ?? { name: "", version: "" };

let machine: FakeMachine;

beforeEach(() => {
  machine = new FakeMachine();
});

afterEach(() => machine.remove());

/** An npm that installs a Node that answers this to `--version`. */
function npmInstalling(version: string): string {
  return `
sleep 0.2
prefix=""
while [ $# -gt 0 ]; do [ "$1" = "--prefix" ] && prefix="$2"; shift; done
mkdir -p "$prefix/node_modules/${WANTED.name}/bin"
cat > "$prefix/node_modules/${WANTED.name}/bin/node" <<'NODE'
#!/bin/sh
echo "${version}"
NODE
chmod +x "$prefix/node_modules/${WANTED.name}/bin/node"
`;
}

const find = (platform = PLATFORM): Promise<string> =>
  findNode({ env: machine.env, platform, log: machine.log });

const folder = (): string => join(machine.cache, `node-${WANTED.version}-${PLATFORM}`);

test("Node 24 is fetched from npm into the cache, once", async () => {
  machine.program("npm", npmInstalling(`v${WANTED.version}`));
  expect(await find()).toBe(join(folder(), "bin", "node"));
  expect(await find()).toBe(join(folder(), "bin", "node"));
  expect(machine.calls()).toHaveLength(1);
  expect(machine.calls()[0]).toContain(`npm install ${WANTED.name}@${WANTED.version}`);
  expect(machine.calls()[0]).toContain("--ignore-scripts");
  expect(readdirSync(machine.cache).filter((name) => name.startsWith("fetching"))).toEqual([]);
});

test("a broken Node in the cache is replaced", async () => {
  machine.program("npm", npmInstalling(`v${WANTED.version}`));
  const binary = await find();
  writeFileSync(binary, "half of it");
  expect(await find()).toBe(binary);
  expect(machine.calls()).toHaveLength(2);
  expect(machine.lines.join()).toMatch(/does not run: fetching it again/);
});

test("two set-ups at once fetch it once", async () => {
  machine.program("npm", npmInstalling(`v${WANTED.version}`));
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toBe(other);
  expect(machine.calls()).toHaveLength(1);
});

test("a Node that does not run here never reaches the cache", async () => {
  machine.program("npm", npmInstalling("not for this libc"));
  await expect(find()).rejects.toThrow(/does not run here.*\n.*Install Node 24/s);
  expect(existsSync(folder())).toBe(false);
});

test("where npm can't fetch it, the reason is told, and what to install", async () => {
  machine.program("npm", 'echo "npm error code E404" >&2\nexit 1\n');
  const error = await find().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SetupError);
  expect(error).toHaveProperty("lines", [
    expect.stringMatching(/can't be had from npm: code E404/),
    expect.stringMatching(/^Install Node 24/),
  ]);
});

test("where npm has none for the platform, it says what to install", async () => {
  await expect(find("sunos-sparc")).rejects.toThrow(/npm has none for sunos-sparc.*\nInstall/s);
});
