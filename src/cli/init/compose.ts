import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { parseDocument } from "yaml";

import { ownFile } from "../terminal/own-files.ts";
import type { InitFile } from "./files.ts";

/** Files that the containers of Temporal and PostgreSQL use, beside the compose file. */
const SCRIPTS = [
  "payrun-database.sh",
  "temporal-schema.sh",
  "temporal-namespace.sh",
  "temporal-dynamic-config.yaml",
] as const;

/** The style of the files that come with Payrun. */
export const YAML_STYLE = { lineWidth: 0, flowCollectionPadding: true } as const;

const CLI = "src/cli/main.ts";

/** True in the checkout, whose programs are TypeScript sources. */
const IS_CHECKOUT = existsSync(ownFile("package-lock.json"));

/** The start of a command that uses the containers' store. */
export const IN_CONTAINER = `docker compose exec gateway node ${IS_CHECKOUT ? CLI : compiled(CLI)}`;

/**
 * Returns the compose file that comes with Payrun, adapted to this folder, and the scripts that it
 * names.
 *
 * @param folder the folder it will be written to
 * @param service the sandbox as the service, or the businesses of `profiles.yaml`
 */
export function composeFiles(folder: string, service: "sandbox" | "real"): InitFile[] {
  const text = readFileSync(ownFile("docker-compose.yml"), "utf8");
  const written = text.replace(/^(#.*\n)+/, "");
  const compose = parseDocument(IS_CHECKOUT ? written : compiled(written));
  compose.commentBefore = header(service);
  compose.setIn(["x-payrun", "build"], compose.createNode(buildOf(folder)));
  if (service === "real") {
    for (const name of ["sandbox", "prepare"]) compose.deleteIn(["services", name]);
    compose.setIn(["x-payrun", "volumes"], ["payrun:/data", ".:/config:ro"]);
    compose.setIn(["x-payrun-settings", "PAYRUN_PROFILES"], "/config/profiles.yaml");
    // There is no `prepare` service that could make a key.
    const keys = "${PAYRUN_ENCRYPTION_KEYS:?.env has it}";
    const given = compose.createPair("PAYRUN_ENCRYPTION_KEYS", keys);
    compose.deleteIn(["x-payrun-settings", "PAYRUN_ENCRYPTION_KEYS"]);
    compose.addIn(["x-payrun-settings"], given);
    for (const name of ["worker", "gateway"]) {
      compose.setIn(["services", name, "depends_on"], {
        "payrun-database": { condition: "service_completed_successfully" },
        "temporal-namespace": { condition: "service_completed_successfully" },
      });
    }
    const gateway = ["services", "gateway"];
    compose.deleteIn([...gateway, "network_mode"]);
    compose.setIn([...gateway, "ports"], ["127.0.0.1:8088:8088"]);
    const from = "${PAYRUN_DOMAIN:-localhost}";
    const proxy = ["caddy", "reverse-proxy", "--from", from, "--to", "gateway:8088"];
    compose.setIn(["services", "edge", "command"], proxy);
    const publicUrl = "${PAYRUN_PUBLIC_URL:-http://localhost:8088}";
    compose.setIn([...gateway, "environment", "PAYRUN_PUBLIC_URL"], publicUrl);
  }
  const scripts = SCRIPTS.map((name) => ({
    path: `docker/${name}`,
    text: readFileSync(ownFile(`docker/${name}`), "utf8"),
    mode: name.endsWith(".sh") ? 0o755 : 0o644,
  }));
  return [
    { path: "docker-compose.yml", text: compose.toString(YAML_STYLE), mode: 0o644 },
    ...scripts,
  ];
}

/** The package contains JavaScript programs. */
function compiled(text: string): string {
  return text.replaceAll(/\b((?:src|docker)\/[\w/-]+)\.ts\b/g, "$1.js");
}

/**
 * The image's user: the user who writes the files, so that its programs can read them, and never
 * root.
 */
export const IMAGE_USER = isRoot() ? 1000 : (process.getuid?.() ?? 1000);

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Returns the build of the checkout's image, or of an image with this version of the package. */
function buildOf(folder: string): string | object {
  if (IS_CHECKOUT) return relative(folder, ownFile(".")) || ".";
  return packageImage(folder, ownVersion());
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(ownFile("package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

/** Returns the file name that `npm pack` uses. */
function archiveOf(version: string): string {
  return `payrun-${version}.tgz`;
}

/** Returns an image of the archive in the folder; without one, of the registry's version. */
export function packageImage(folder: string, version: string): object {
  const archive = archiveOf(version);
  const user = `${IMAGE_USER}:${IMAGE_USER}`;
  const install = "RUN npm install --global --ignore-scripts --no-audit --no-fund";
  const hasArchive = existsSync(join(folder, archive));
  const lines = [
    "FROM node:24-slim",
    ...(hasArchive
      ? [`COPY ${archive} /tmp/${archive}`, `${install} /tmp/${archive}`]
      : [`${install} payrun@${version}`]),
    "WORKDIR /usr/local/lib/node_modules/payrun/dist",
    "ENV NODE_ENV=production NODE_OPTIONS=--disable-warning=ExperimentalWarning PAYRUN_HOME=/data",
    `RUN mkdir /data && chown ${user} /data`,
    "VOLUME /data",
    `USER ${user}`,
  ];
  return { context: ".", dockerfile_inline: `${lines.join("\n")}\n` };
}

/** Returns what the containers need that the folder lacks; undefined if nothing is missing. */
export function imageNeeds(folder: string): string | undefined {
  return IS_CHECKOUT ? undefined : packageNeeds(folder, ownVersion());
}

export function packageNeeds(folder: string, version: string): string | undefined {
  const archive = archiveOf(version);
  if (existsSync(join(folder, archive))) return undefined;
  return `The containers install payrun@${version} from npm's registry: it must be there, or ${archive} in the folder before init (--force writes again).`;
}

function header(service: "sandbox" | "real"): string {
  const shared = [
    " Payrun on one machine with a Temporal server that keeps its state in PostgreSQL.",
    " ",
    "   docker compose up --build --detach",
    `   ${IN_CONTAINER} doctor`,
  ];
  const first = [`   ${IN_CONTAINER} token bootstrap ADA BEA`];
  const rest = [
    " ",
    " Temporal's UI is at http://localhost:8080, the gateway at http://localhost:8088.",
    service === "sandbox"
      ? " The sandbox at http://localhost:8089 is the Payments Service: no real money."
      : " Businesses are those of profiles.yaml beside this file; .env has the keys of the vault.",
  ];
  return [...shared, ...(service === "real" ? first : []), ...rest].join("\n");
}
