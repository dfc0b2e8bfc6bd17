import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { downloadTemporalCli, RELEASE } from "../../scripts/setup/download-temporal-cli.mjs";
import { startProxy } from "../support/proxy.ts";
import { FakeMachine, WORKING_CLI } from "./fakes.ts";

let machine: FakeMachine;
let server: Server;
let archive: Buffer;
let folder: string;

beforeEach(async () => {
  machine = new FakeMachine();
  machine.file("whole/temporal", WORKING_CLI);
  machine.file("whole/LICENSE", "as it is");
  const path = join(machine.folder, "cli.tar.gz");
  execFileSync("tar", ["-czf", path, "-C", join(machine.folder, "whole"), "temporal", "LICENSE"]);
  archive = readFileSync(path);
  folder = join(machine.folder, "private");
  mkdirSync(folder, { mode: 0o700 });
  server = createServer((request, response) => {
    if (request.url?.endsWith("/silent.tar.gz") === true) return;
    if (request.url?.endsWith("/cli.tar.gz") === true) response.end(archive);
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  machine.remove();
});

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function download(sha256: string, platform = "linux-x64", name = "cli.tar.gz"): Promise<string> {
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const archives = { "linux-x64": { archive: name, sha256 } };
  const release = { version: "1.5.1", from, archives };
  return downloadTemporalCli(folder, process.env, machine.log, release, platform);
}

test("only the CLI is unpacked from an archive with the pinned hash", async () => {
  expect(await download(hash(archive))).toBe(join(folder, "temporal"));
  expect(readFileSync(join(folder, "temporal"), "utf8")).toBe(WORKING_CLI);
  expect(existsSync(join(folder, "LICENSE"))).toBe(false);
});

test("nothing is written from an archive with another hash", async () => {
  const pinned = hash(archive);
  archive = Buffer.concat([archive, Buffer.from("!")]);
  await expect(download(pinned)).rejects.toThrow(/not what it should be: its SHA-256 is/);
  expect(readdirSync(folder)).toEqual([]);
});

test("a failed download or a missing pinned hash is reported", async () => {
  await expect(download("x", "linux-x64", "none.tar.gz")).rejects.toThrow(/the answer is 404/);
  await expect(download("x", "sunos-sparc")).rejects.toThrow(
    /no hash .* for sunos-sparc is pinned/,
  );
  await expect(download("x", "linux-x64", "gone.tar.gz")).rejects.toThrow(/can't be downloaded/);
});

test("a release that accepts the connection and says nothing is given up after five seconds", async () => {
  const askedMs = performance.now();
  const said = await download("x", "linux-x64", "silent.tar.gz").catch(String);
  expect(said).toMatch(/can't be downloaded: nothing arrived for 5 s/);
  expect(performance.now() - askedMs).toBeGreaterThan(4_900);
}, 30_000);

test("the release is asked for through the environment's proxy", async () => {
  const { port } = server.address() as AddressInfo;
  const proxy = await startProxy({ "release.example:80": port });
  const from = "http://release.example";
  const archives = { "linux-x64": { archive: "cli.tar.gz", sha256: hash(archive) } };
  const env = { PATH: process.env["PATH"], http_proxy: proxy.url };
  const release = { version: "1.5.1", from, archives };
  const path = await downloadTemporalCli(folder, env, machine.log, release, "linux-x64");
  expect(readFileSync(path, "utf8")).toBe(WORKING_CLI);
  expect(proxy.asked).toEqual([`GET ${from}/cli.tar.gz`]);
});

test("each platform has a SHA-256 of its own", () => {
  const hashes = Object.values(RELEASE.archives).map(({ sha256 }) => sha256);
  expect(new Set(hashes).size).toBe(4);
  for (const sha256 of hashes) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
});
