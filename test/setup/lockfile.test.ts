import { readFileSync } from "node:fs";

import { expect, test } from "vitest";
import { z } from "zod";

const names = z.record(z.string(), z.string()).optional();
const manifest = z.object({ dependencies: names, devDependencies: names, overrides: names });
const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
      optionalDependencies: names,
      dependencies: names,
      devDependencies: names,
    }),
  ),
});

function read<T>(name: string, schema: z.ZodType<T>): T {
  return schema.parse(JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8")));
}

const { packages } = read("package-lock.json", lockfile);

/** True if a package finds another one in its own folder or in those around it. */
function isInstalledFor(path: string, name: string): boolean {
  let folder = path;
  for (;;) {
    const beside = folder === "" ? "node_modules" : `${folder}/node_modules`;
    if (packages[`${beside}/${name}`]) return true;
    if (folder === "") return false;
    const up = folder.lastIndexOf("/node_modules/");
    folder = up === -1 ? "" : folder.slice(0, up);
  }
}

test("the lockfile records hashes of the packages and no download addresses", () => {
  for (const [path, entry] of Object.entries(packages)) {
    expect(entry.resolved, path).toBeUndefined();
    if (path !== "") expect(entry.integrity, path).toMatch(/^sha512-/);
  }
});

test("the lockfile has the packages of every platform, not only of the one it was made on", () => {
  const missing: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      if (!isInstalledFor(path, name)) missing.push(`${path} needs ${name}`);
    }
  }
  expect(missing).toEqual([]);
});

test("every dependency is pinned to one version, and the lockfile agrees", () => {
  const wanted = read("package.json", manifest);
  const root = packages[""];
  expect(root?.dependencies).toEqual(wanted.dependencies);
  expect(root?.devDependencies).toEqual(wanted.devDependencies);
  for (const [name, version] of Object.entries({
    ...wanted.dependencies,
    ...wanted.devDependencies,
    ...wanted.overrides,
  })) {
    // Some packages have only numbered pre-releases, which are fixed versions too.
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/);
    expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});

test("all Temporal packages have the same version, and their protobufjs is version 8", () => {
  const versions = Object.entries(packages)
    .filter(([path]) => /^node_modules\/@temporalio\/[a-z-]+$/.test(path))
    .map(([, { version }]) => version);
  expect(new Set(versions).size).toBe(1);
  expect(packages["node_modules/protobufjs"]?.version).toMatch(/^8\./);
});
