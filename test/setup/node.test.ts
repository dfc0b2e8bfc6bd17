import { createHash } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { NODE_PACKAGES, findNode } from "../../scripts/setup/node.mjs";
import { SetupError } from "../../scripts/setup/setup-error.mjs";
import { FakeMachine } from "./fakes.ts";

const PLATFORM = "linux-x64";
const WANTED = NODE_PACKAGES[PLATFORM] ?? { name: "", version: "", sha256: "" };

let machine: FakeMachine;

beforeEach(() => {
  machine = new FakeMachine();
});

afterEach(() => machine.remove());

/** Returns a Node that answers `--version` with this. */
const nodeSaying = (version: string): string => `#!/bin/sh\necho "${version}"\n`;

/** Returns an npm that installs such a Node. */
function npmInstalling(version: string): string {
  return `
sleep 0.2
prefix=""
while [ $# -gt 0 ]; do [ "$1" = "--prefix" ] && prefix="$2"; shift; done
mkdir -p "$prefix/node_modules/${WANTED.name}/bin"
cat > "$prefix/node_modules/${WANTED.name}/bin/node" <<'NODE'
${nodeSaying(version)}NODE
chmod +x "$prefix/node_modules/${WANTED.name}/bin/node"
`;
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** @param says what the Node with the pinned hash answers to `--version` */
const find = (platform = PLATFORM, says = `v${WANTED.version}`): Promise<string> => {
  const packages = { [PLATFORM]: { ...WANTED, sha256: hashOf(nodeSaying(says)) } };
  return findNode({ env: machine.env, platform, log: machine.log, packages });
};

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
  expect(machine.lines.join()).toMatch(/is not what it should be: fetching it again/);
});

test("two simultaneous set-ups fetch Node once", async () => {
  machine.program("npm", npmInstalling(`v${WANTED.version}`));
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toBe(other);
  expect(machine.calls()).toHaveLength(1);
});

test("a Node that does not run here never reaches the cache", async () => {
  machine.program("npm", npmInstalling("not for this libc"));
  const finding = find(PLATFORM, "not for this libc");
  await expect(finding).rejects.toThrow(/does not run here.*\n.*Install Node 24/s);
  expect(existsSync(folder())).toBe(false);
});

test("a Node whose bytes are not the pinned ones is never run and never reaches the cache", async () => {
  const ran = join(machine.folder, "ran");
  machine.program("npm", npmInstalling(`v1"; echo > "${ran}`));
  await expect(find()).rejects.toThrow(/its SHA-256 differs/);
  expect(existsSync(folder())).toBe(false);
  expect(existsSync(ran)).toBe(false);
});

test("if npm can't fetch Node, the error has the reason and what to install", async () => {
  machine.program("npm", 'echo "npm error code E404" >&2\nexit 1\n');
  const error = await find().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(SetupError);
  expect(error).toHaveProperty("lines", [
    expect.stringMatching(/can't be fetched from npm: code E404/),
    expect.stringMatching(/^Install Node 24/),
  ]);
});

test("if npm has no Node for the platform, the error says what to install", async () => {
  await expect(find("sunos-sparc")).rejects.toThrow(/npm has none for sunos-sparc.*\nInstall/s);
});
