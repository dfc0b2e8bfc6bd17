import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { openStore } from "../../src/store/open.ts";
import { noteWorker } from "../../src/store/sql/worker-leases.ts";
import { freePort } from "../support/free-port.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startServer } from "../support/postgres-setup.ts";
import { Browser } from "../gateway/sign-in/browser.ts";
import { read, ROOT, service } from "./compose.ts";

const folder = mkdtempSync(join(tmpdir(), "payrun-compose-"));
const started: ChildProcess[] = [];
let stopDatabase = async (): Promise<void> => undefined;

afterAll(async () => {
  for (const child of started.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
  await stopDatabase();
  rmSync(folder, { recursive: true, force: true });
});

test("worker and gateway use the same store, the same businesses and the same Temporal", () => {
  const shared = [
    ...["PAYRUN_HOME", "PAYRUN_DATABASE_URL", "PAYRUN_DATABASE_POOL", "PAYRUN_PROFILES"],
    ...["PAYRUN_ENCRYPTION_KEYS", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"],
  ];
  for (const name of shared) {
    expect(service("worker").environment[name]).toBe(service("gateway").environment[name]);
  }
  expect(service("worker").environment["PAYRUN_HOME"]).toBe("/data");
  expect(service("worker").volumes).toEqual(service("gateway").volumes);
  const { temporal } = loadConfig(withFolder(service("prepare").environment));
  expect(temporal.namespace).toBe(service("temporal-namespace").environment["TEMPORAL_NAMESPACE"]);
});

test("Payrun's user and database are created once, and the store is created in that database", async ({
  skip,
}) => {
  const hasPsql = spawnSync("psql", ["--version"]).status === 0;
  if (!hasPostgres() || !hasPsql) skip("there is no PostgreSQL with psql");
  const { server, stop } = await startServer();
  onTestFinished(stop);
  const admin = new URL(server.urlOf("postgres"));
  const [, script] = service("payrun-database").entrypoint ?? [];
  const make = () =>
    spawnSync("/bin/sh", [join(ROOT, (script ?? "").slice(1))], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        PGHOST: admin.hostname,
        PGPORT: admin.port,
        PGUSER: admin.username,
        PGPASSWORD: decodeURIComponent(admin.password),
        PAYRUN_DB_PASSWORD: "it's a secret",
        TEMPORAL_DB_PASSWORD: "another",
      },
    });
  for (const each of [make(), make()]) {
    expect(each).toMatchObject({ status: 0, stderr: "" });
  }
  const url = new URL(service("worker").environment["PAYRUN_DATABASE_URL"] ?? "");
  url.host = admin.host;
  url.password = "it's a secret";
  const store = await openStore(url.href);
  const { rows } = await sql<{ rolname: string }>`
    select rolname from pg_roles
    where rolname in ('payrun', 'temporal')
      and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)
    order by rolname`.execute(store.db);
  expect(rows.map(({ rolname }) => rolname)).toEqual(["payrun", "temporal"]);
  expect(await workerHealth(url.href)).toBe(1);
  await noteWorker(store.db, `${hostname()}:1`);
  expect(await workerHealth(url.href)).toBe(0);
  await store.close();
  url.pathname = "/temporal";
  await expect(openStore(url.href)).rejects.toThrow(/permission denied|CONNECT/);
});

/** Runs the worker's health check as the compose file has it. */
function workerHealth(databaseUrl: string): Promise<number | null> {
  const [, ...command] = service("worker").healthcheck?.test ?? [];
  const environment = { PAYRUN_DATABASE_URL: databaseUrl, PAYRUN_HOME: folder };
  return ended(run(command, environment, (text) => text));
}

test("sandbox, preparation and gateway start as written, and an approver can sign in at the console", async () => {
  const databaseUrl = await database();
  const [sandboxPort, gatewayPort] = [await freePort(), await freePort()];
  const moved = (text: string): string =>
    text
      .replace("/data", folder)
      .replace(/^postgres:.*/, databaseUrl)
      .replace(/(sandbox|127\.0\.0\.1|0\.0\.0\.0|localhost):8089/, `127.0.0.1:${sandboxPort}`)
      .replace(/(127\.0\.0\.1|localhost):8088/, `127.0.0.1:${gatewayPort}`)
      .replace(/^8089$/, String(sandboxPort))
      .replace(/^8088$/, String(gatewayPort))
      .replace("temporal:7233", "127.0.0.1:1")
      .replace(/\b0\.0\.0\.0\b/, "127.0.0.1");

  await ready(start("sandbox", moved));
  expect(await healthcheck("sandbox", moved)).toBe(0);
  expect(await ended(start("prepare", moved))).toBe(0);
  // The containers start again after a restart: nothing is created twice.
  expect(await ended(start("prepare", moved))).toBe(0);

  const settings = Object.entries(service("gateway").environment);
  const config = loadConfig(
    Object.fromEntries(settings.map(([key, value]) => [key, moved(value)])),
  );
  const [business, ...others] = config.profiles.all();
  expect(others).toEqual([]);
  expect(business).toMatchObject({ sandbox: true, apiUrl: `http://127.0.0.1:${sandboxPort}` });
  expect(business?.webhookSecrets).toHaveLength(1);

  await ready(start("gateway", moved));
  expect(await healthcheck("gateway", moved)).toBe(0);

  const [login = ""] =
    /node src\/cli\/main\.ts --as \w+ login/.exec(read("docker-compose.yml")) ?? [];
  const link = new URL(await said(run(login.split(" "), service("gateway").environment, moved)));
  const browser = new Browser(link.origin);
  await browser.post("/sign-in", { code: link.hash.slice(1), to: "/" });
  expect(await (await browser.get("/")).text()).toContain(
    "Signed in as approver (controller, owner)",
  );
});

/** Returns the address that a command prints. */
async function said(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return /https?:\/\/\S+/.exec(text)?.[0] ?? `nothing in: ${text}`;
}

/** Returns the store's address: PostgreSQL's if there is one, otherwise a file's. */
async function database(): Promise<string> {
  if (!hasPostgres()) return `sqlite:${folder}/payrun.db`;
  const { server, stop } = await startServer();
  stopDatabase = stop;
  const databases = databasesOf(server.urlOf("postgres"));
  await databases.create("payrun");
  return databases.urlOf("payrun");
}

function withFolder(environment: Record<string, string>): Record<string, string> {
  const entries = Object.entries(environment);
  return Object.fromEntries(entries.map(([key, value]) => [key, value.replace("/data", folder)]));
}

function start(name: string, moved: (text: string) => string): ChildProcess {
  const { command = [], environment } = service(name);
  return run(command, environment, moved);
}

function run(
  [, ...args]: readonly string[],
  environment: Record<string, string>,
  moved: (text: string) => string,
): ChildProcess {
  const given = Object.entries(environment).map(([key, value]) => [key, moved(value)]);
  const child = spawn(process.execPath, args.map(moved), {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], HOME: folder, ...Object.fromEntries(given) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  return child;
}

/** Resolves when a part prints that it is ready. */
async function ready(child: ChildProcess): Promise<void> {
  if (!child.stdout) throw new Error("a part has no standard output");
  for await (const line of createInterface(child.stdout)) {
    if (line.includes('"ready":true')) {
      child.stdout.resume();
      return;
    }
  }
  throw new Error("a part has ended before it was ready");
}

async function ended(child: ChildProcess): Promise<number | null> {
  child.stdout?.resume();
  if (child.exitCode === null) await once(child, "exit");
  return child.exitCode;
}

function healthcheck(name: string, moved: (text: string) => string): Promise<number | null> {
  const [, ...command] = service(name).healthcheck?.test ?? [];
  return ended(run(command, {}, moved));
}
