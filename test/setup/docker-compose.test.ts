import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { sql } from "kysely";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

import { loadConfig } from "../../src/config.ts";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { SEARCH_ATTRIBUTES } from "../../src/contracts/search-attributes.ts";
import { openStore } from "../../src/store/index.ts";
import { noteWorker } from "../../src/store/sql/worker-leases.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "../support/postgres-setup.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** As compose reads it where the user has set nothing. */
const scalar = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).replace(/\$\{\w+:-([^}]*)\}/g, "$1"));
const composeShape = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      build: z.string().optional(),
      command: z.array(z.string()).optional(),
      entrypoint: z.array(z.string()).optional(),
      environment: z.record(z.string(), scalar).default({}),
      ports: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
      network_mode: z.string().optional(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
      user: z.string().optional(),
      privileged: z.boolean().default(false),
      read_only: z.boolean().default(false),
      cap_drop: z.array(z.string()).default([]),
      security_opt: z.array(z.string()).default([]),
      profiles: z.array(z.string()).default([]),
      restart: z.string().optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const compose = composeShape.parse(parse(read("docker-compose.yml"), { merge: true }));
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

function service(name: string): z.output<typeof composeShape>["services"][string] {
  const found = compose.services[name];
  if (!found) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

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

test("Temporal with its UI, PostgreSQL, worker, gateway and sandbox are there", () => {
  const names = services.map(([name]) => name);
  for (const name of ["temporal", "temporal-ui", "postgresql", "worker", "gateway", "sandbox"]) {
    expect(names).toContain(name);
  }
});

test("every variable that a service of ours is given is a setting that the code reads", () => {
  const known: string[] = [...SETTING_NAMES, "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"];
  for (const [name, { environment }] of ours) {
    for (const variable of Object.keys(environment)) expect(known, name).toContain(variable);
  }
});

/** Settings of commands and of `payrun up`; `PAYMENTS_…` describe a business without a profiles file. */
const NOT_OF_PARTS = /^(PAYMENTS_.*|PAYRUN_TOKEN|PAYRUN_(SANDBOX|TEMPORAL)_PORT|TEMPORAL_CLI)$/;

test("every setting that worker and gateway read is there for the user to see", () => {
  const given = Object.keys(service("gateway").environment);
  for (const name of SETTING_NAMES.filter((each) => !NOT_OF_PARTS.test(each))) {
    expect(given).toContain(name);
  }
});

test("every script that a service runs is in the checkout and in the image", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (\S+) \S+$/gm)].map(([, from]) => from);
  for (const [name, { command = [] }] of ours) {
    const script = command[1] ?? "";
    expect(command[0], name).toBe("node");
    expect(existsSync(join(ROOT, script)), script).toBe(true);
    expect(copied, name).toContain(script.split("/")[0]);
  }
  for (const part of copied) expect(existsSync(join(ROOT, part ?? "")), part).toBe(true);
});

test("nothing that code needs at run time is left out of the image", () => {
  const ignored = read(".dockerignore").split("\n");
  for (const part of ["src", "activities", "workflows", "bin", "scripts", "playbooks", "docker"]) {
    expect(read("Dockerfile")).toContain(`COPY ${part} ${part}`);
    expect(ignored).toContain(`!${part}`);
  }
});

test("the image has the Node that the checkout needs", () => {
  const [, major] = /^FROM node:(\d+)/.exec(read("Dockerfile")) ?? [];
  expect(Number(major)).toBe(24);
});

test("what is ours, and what faces outside, runs without root's rights on files that it can't change", () => {
  const users = [...read("Dockerfile").matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
  expect(users.at(-1)).toBe("node");
  expect(read("Dockerfile").split(/^USER node$/m)[1]).not.toMatch(/^RUN /m);
  for (const [name, each] of [...ours, ["edge", service("edge")] as const]) {
    expect(each.read_only, name).toBe(true);
    expect(each.cap_drop, name).toEqual(["ALL"]);
    expect(each.security_opt, name).toEqual(["no-new-privileges:true"]);
    expect(each.user ?? "node", name).not.toMatch(/^(root|0)/);
  }
  for (const [name, { privileged }] of services) expect(privileged, name).toBe(false);
});

test("every part that stays up says whether it works, but for the UI, which only shows", () => {
  const jobs = services.flatMap(([, { depends_on: needs }]) =>
    Object.entries(needs).flatMap(([needed, { condition }]) =>
      condition === "service_completed_successfully" ? [needed] : [],
    ),
  );
  for (const [name, { healthcheck }] of services) {
    if (jobs.includes(name) || name === "temporal-ui") continue;
    expect(healthcheck?.test[0], name).toBe("CMD");
  }
});

test("PostgreSQL's superuser makes the users and does nothing else, and no two share one", () => {
  const superuser = service("postgresql").environment["POSTGRES_USER"];
  const userOf = (url = "") => (url === "" ? undefined : new URL(url).username);
  const users = services.flatMap(([name, { environment: given }]) => {
    const user =
      given["PGUSER"] ??
      given["SQL_USER"] ??
      (name === "postgresql" ? undefined : given["POSTGRES_USER"]) ??
      userOf(given["PAYRUN_DATABASE_URL"]);
    return user === undefined ? [] : [[name, user] as const];
  });
  expect(users.filter(([, user]) => user === superuser)).toEqual([["payrun-database", superuser]]);
  expect(Object.fromEntries(users)).toMatchObject({
    ...{ temporal: "temporal", "temporal-schema": "temporal" },
    ...{ worker: "payrun", gateway: "payrun", prepare: "payrun" },
  });
});

test("TLS stands before the gateway where others reach it, and starts only when it is asked for", () => {
  const { profiles, command = [], ports } = service("edge");
  expect(profiles).toEqual(["edge"]);
  expect(ports).toEqual(["80:80", "443:443"]);
  // The gateway shares the sandbox's network.
  expect(command.slice(-2)).toEqual(["--to", "sandbox:8088"]);
  expect(service("gateway").network_mode).toBe("service:sandbox");
});

test("images are pinned to a version, and but for the UI and the edge to a digest", () => {
  const others = services.filter(([, { build }]) => build === undefined);
  expect(others.length).toBeGreaterThan(3);
  for (const [name, { image }] of others) {
    const isKnown = name !== "temporal-ui" && name !== "edge";
    const pinned = !isKnown ? /:\d+(\.\d+)*(-alpine)?$/ : /:\d[\w.-]*@sha256:[0-9a-f]{64}$/;
    expect(image, name).toMatch(pinned);
  }
});

test("services, volumes and files that are named exist", () => {
  const names = services.map(([name]) => name);
  for (const [name, each] of services) {
    for (const [needed, { condition }] of Object.entries(each.depends_on)) {
      expect(names, name).toContain(needed);
      const needsCheck = condition === "service_healthy";
      if (needsCheck) expect(service(needed).healthcheck, needed).toBeDefined();
    }
    for (const volume of each.volumes) {
      const [source = ""] = volume.split(":");
      if (source.startsWith("./")) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    const script = each.entrypoint?.[1]?.replace("/docker/", "docker/");
    if (script) expect(existsSync(join(ROOT, script)), script).toBe(true);
    const shared = each.network_mode?.replace("service:", "");
    if (shared) expect(names).toContain(shared);
  }
});

test("ports are published on this machine only, and are the default ones", () => {
  const config = loadConfig({});
  const published = services.flatMap(([name, { ports }]) => (name === "edge" ? [] : ports));
  for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
  for (const port of [
    config.gateway.port,
    config.sandbox.port,
    config.temporal.embeddedPort.port,
  ]) {
    expect(published).toContain(`127.0.0.1:${port}:${port}`);
  }
});

test("worker and gateway work on the same store, the same businesses and the same Temporal", () => {
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

test("every search attribute is made, in its type", () => {
  const script = read("docker/temporal-namespace.sh");
  const made = [...script.matchAll(/--name (\w+) --type (\w+)/g)].map(([, name, type]) => [
    name,
    type?.toUpperCase(),
  ]);
  expect(Object.fromEntries(made)).toEqual(SEARCH_ATTRIBUTES);
});

test("scripts that run in containers are executable and stop at the first error", () => {
  for (const part of ["payrun-database", "temporal-schema", "temporal-namespace"]) {
    const script = `docker/${part}.sh`;
    expect(statSync(join(ROOT, script)).mode & 0o111, script).toBeGreaterThan(0);
    expect(read(script)).toContain("set -eu");
  }
});

test("Payrun's user and database are made, once, and the store is made in it", async ({ skip }) => {
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

/** The worker's health check, as it is written. */
function workerHealth(databaseUrl: string): Promise<number | null> {
  const [, ...command] = service("worker").healthcheck?.test ?? [];
  const environment = { PAYRUN_DATABASE_URL: databaseUrl, PAYRUN_HOME: folder };
  return ended(run(command, environment, (text) => text));
}

test("sandbox, preparation and gateway start as they are written and find each other", async () => {
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
      .replace("0.0.0.0", "127.0.0.1");

  await ready(start("sandbox", moved));
  expect(await healthcheck("sandbox", moved)).toBe(0);
  expect(await ended(start("prepare", moved))).toBe(0);
  // The containers come up again after a restart: nothing is made twice.
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
});

/** Where the store is: in PostgreSQL, as it is written, wherever there is one. */
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

/** Resolves at the line that a part prints once it is ready. */
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
