import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { proxyFor, proxyForTemporal } from "../../scripts/setup/proxy.mjs";
import { loadConfig } from "../../src/config.ts";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { SEARCH_ATTRIBUTES } from "../../src/contracts/search-attributes.ts";
import { compose, ours, read, ROOT, service, services } from "./compose.ts";

test("the compose file has Temporal with its UI, PostgreSQL, worker, gateway and sandbox", () => {
  const names = services.map(([name]) => name);
  for (const name of ["temporal", "temporal-ui", "postgresql", "worker", "gateway", "sandbox"]) {
    expect(names).toContain(name);
  }
});

test("every variable that our services get is a setting that the code reads", () => {
  const others = [
    "TEMPORAL_ADDRESS",
    "TEMPORAL_NAMESPACE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
  ];
  const known: string[] = [...SETTING_NAMES, ...others];
  for (const [name, { environment }] of ours) {
    for (const variable of Object.keys(environment)) expect(known, name).toContain(variable);
  }
});

/**
 * Settings of commands and `payrun up`; `PAYMENTS_…` describe a business without a profiles file.
 */
const NOT_OF_PARTS = /^(PAYMENTS_.*|PAYRUN_TOKEN|PAYRUN_(SANDBOX|TEMPORAL)_PORT|TEMPORAL_CLI)$/;

test("every setting that worker and gateway read is shown in the compose file", () => {
  const given = ["gateway", "worker"].flatMap((name) => Object.keys(service(name).environment));
  for (const name of SETTING_NAMES.filter((each) => !NOT_OF_PARTS.test(each))) {
    expect(given).toContain(name);
  }
});

test("our services reach each other without the environment's proxy", () => {
  for (const [name, { environment }] of ours.filter(([each]) => each !== "sandbox")) {
    const env = { ...environment, HTTPS_PROXY: "http://proxy", http_proxy: "http://proxy" };
    expect(proxyFor("http://sandbox:8089", env), name).toBeUndefined();
    const { TEMPORAL_ADDRESS: temporal = "127.0.0.1" } = environment;
    expect(proxyForTemporal(temporal, env), name).toBeUndefined();
    expect(proxyFor("http://elsewhere.example", env), name).toBeDefined();
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

test("the image has everything that the code needs at run time", () => {
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

/** PostgreSQL starts as root and becomes its own user; the edge listens on ports 80 and 443. */
const PRIVILEGES: Readonly<Record<string, readonly string[]>> = {
  postgresql: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"],
  edge: ["NET_BIND_SERVICE"],
};

test("every container runs without privileges and on read-only files, with few exceptions", () => {
  const users = [...read("Dockerfile").matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
  expect(users.at(-1)).toBe("node");
  expect(read("Dockerfile").split(/^USER node$/m)[1]).not.toMatch(/^RUN /m);
  for (const [name, each] of services) {
    expect(each.privileged, name).toBe(false);
    expect(each.security_opt, name).toEqual(["no-new-privileges:true"]);
    expect(each.cap_add, name).toEqual(PRIVILEGES[name] ?? []);
    // Otherwise it is the image's user, which isn't root in our images and in Temporal's.
    expect(each.user, name).toBe(name === "payrun-database" ? "postgres" : undefined);
    expect(each.cap_drop, name).toEqual(name === "temporal-ui" ? [] : ["ALL"]);
    expect(each.read_only, name).toBe(!["postgresql", "temporal-ui"].includes(name));
  }
});

/** The services that end by themselves. */
const jobs = services.flatMap(([, { depends_on: needs }]) =>
  Object.entries(needs).flatMap(([needed, { condition }]) =>
    condition === "service_completed_successfully" ? [needed] : [],
  ),
);

test("every part that stays up starts again with the machine, and one that ends doesn't", () => {
  for (const [name, { restart }] of services) {
    expect(restart, name).toBe(jobs.includes(name) ? "no" : "unless-stopped");
  }
});

test("every part that stays up has a health check, except the UI", () => {
  for (const [name, { healthcheck }] of services) {
    if (jobs.includes(name) || name === "temporal-ui") continue;
    expect(healthcheck?.test[0], name).toBe("CMD");
  }
});

test("a health check uses a port that its part serves", () => {
  for (const [name, each] of services) {
    const asked = each.healthcheck?.test.join(" ").match(/(?<=[: ])\d+(?=$|\/)/)?.[0];
    if (asked === undefined) continue;
    const shared = each.network_mode?.replace("service:", "");
    const { ports } = shared === undefined ? each : service(shared);
    expect(
      ports.map((port) => port.split(":").at(-1)),
      name,
    ).toContain(asked);
  }
});

test("PostgreSQL's check uses TCP, because its socket answers before it is set up", () => {
  expect(service("postgresql").healthcheck?.test.join(" ")).toContain("--host 127.0.0.1");
});

test("PostgreSQL's superuser only creates the users, and Temporal and Payrun have separate ones", () => {
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

test("the edge for TLS starts only if its profile is chosen, and leads to the gateway", () => {
  const { profiles, command = [], ports } = service("edge");
  expect(profiles).toEqual(["edge"]);
  expect(ports).toEqual(["80:80", "443:443"]);
  // The gateway shares the sandbox's network.
  expect(command.slice(-2)).toEqual(["--to", "sandbox:8088"]);
  expect(service("gateway").network_mode).toBe("service:sandbox");
});

test("images are pinned to a version, and to a digest except for the UI and the edge", () => {
  const others = services.filter(([, { build }]) => build === undefined);
  expect(others.length).toBeGreaterThan(3);
  for (const [name, { image }] of others) {
    const isKnown = name !== "temporal-ui" && name !== "edge";
    const pinned = !isKnown ? /:\d+(\.\d+)*(-alpine)?$/ : /:\d[\w.-]*@sha256:[0-9a-f]{64}$/;
    expect(image, name).toMatch(pinned);
  }
});

test("the services, volumes and files that the compose file names exist", () => {
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

test("ports are published only on this machine, and are the default ones", () => {
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

test("the namespace script creates every search attribute with its type", () => {
  const script = read("docker/temporal-namespace.sh");
  const made = [...script.matchAll(/--name (\w+) --type (\w+)/g)].map(([, name, type]) => [
    name,
    type?.toUpperCase(),
  ]);
  expect(Object.fromEntries(made)).toEqual(SEARCH_ATTRIBUTES);
});

test("a checkout has the containers' scripts with LF, whatever its git does to other files", () => {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  const scripts = git("ls-files", "*.sh", ".ci/run").trim().split("\n");
  expect(scripts.length).toBeGreaterThan(2);
  for (const script of scripts) {
    expect(git("check-attr", "eol", "--", script)).toBe(`${script}: eol: lf\n`);
  }
});

test("scripts that run in containers are executable and stop at the first error", () => {
  for (const part of ["payrun-database", "temporal-schema", "temporal-namespace"]) {
    const script = `docker/${part}.sh`;
    expect(statSync(join(ROOT, script)).mode & 0o111, script).toBeGreaterThan(0);
    expect(read(script)).toContain("set -eu");
  }
});
