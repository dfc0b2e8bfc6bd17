import { readdirSync } from "node:fs";
import { join } from "node:path";

import { nearest } from "../../config/nearest.ts";
import { usageError } from "../terminal/cli-error.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Where the local administrator's token lies. */
export const localAdminPath = (home: string) => join(home, "admin.token");

/** Where the token of somebody else lies whom this home knows: what `--as` names. */
export const personPath = (home: string, name: string) =>
  join(home, "people", `${encodeURIComponent(name)}${ENDING}`);

const ENDING = ".token";

/** Who speaks where nobody is named. */
export const LOCAL_ADMIN = "local-admin";

/** Who decides beside a sandbox: whoever launches there, the local administrator, may not. */
export const LOCAL_APPROVER = "approver";

/** How that one is named on a command line; empty where the home doesn't keep their token. */
export function asApprover(home: string): string {
  return readToken(personPath(home, LOCAL_APPROVER)) === undefined ? "" : ` --as ${LOCAL_APPROVER}`;
}

/** The local administrator's token, as the commands on this machine find it. */
export function readLocalAdmin(home: string): string | undefined {
  return readToken(localAdminPath(home));
}

/** Whose commands they are, as the settings say. */
interface Speaker {
  readonly token?: string | undefined;
  readonly home: string;
}

/** The token that commands speak with: the settings' own, or else the local administrator's. */
export function ownToken({ token, home }: Speaker): string | undefined {
  return token ?? readLocalAdmin(home);
}

/**
 * The token of a person, whose name may be typed in another case where that names only one.
 *
 * @throws {CliError} 2 where the home has no token of that name
 */
export function readPerson(home: string, name: string): string {
  const token = tokenOf(home, name);
  if (token !== undefined) return token;
  const known = peopleOf(home);
  const lower = name.toLowerCase();
  const [meant, ...others] = known.filter((each) => each.toLowerCase() === lower);
  const theirs = meant === undefined ? undefined : tokenOf(home, meant);
  if (theirs !== undefined && others.length === 0) return theirs;
  const near = nearest(name, known);
  const guess = near === undefined ? "" : `; did you mean ${near}?`;
  throw usageError(
    `${home} has no token of “${name}”${known.length === 0 ? "" : `: it has those of ${known.join(", ")}${guess}`}`,
    "“payrun up” makes some beside a sandbox, and “payrun token create NAME --role ROLE” others; elsewhere set PAYRUN_TOKEN.",
  );
}

function tokenOf(home: string, name: string): string | undefined {
  const own = readToken(personPath(home, name));
  return own ?? (name === LOCAL_ADMIN ? readLocalAdmin(home) : undefined);
}

/** A token in a file; undefined where it is not there, or empty. */
export function readToken(path: string): string | undefined {
  const text = readIfThere(path)?.trim();
  return text === "" ? undefined : text;
}

/**
 * Puts the new secret of the token that commands speak with where this home keeps the old one,
 * which counts for nothing any more.
 *
 * @returns the home; null where it has kept nothing of it
 */
export function replaceOwnToken(speaker: Speaker, next: string): string | null {
  const { home } = speaker;
  const old = ownToken(speaker);
  const kept = [localAdminPath(home), ...peopleIn(home).map((name) => personPath(home, name))];
  const stale = kept.filter((path) => old !== undefined && readToken(path) === old);
  for (const path of stale) writePrivate(path, `${next}\n`);
  return stale.length > 0 ? home : null;
}

/** Whom `--as` may name here. */
export function peopleOf(home: string): string[] {
  return readLocalAdmin(home) === undefined ? peopleIn(home) : [LOCAL_ADMIN, ...peopleIn(home)];
}

function peopleIn(home: string): string[] {
  try {
    return readdirSync(join(home, "people"))
      .filter((file) => file.endsWith(ENDING))
      .map((file) => decodeURIComponent(file.slice(0, -ENDING.length)))
      .toSorted();
  } catch {
    return [];
  }
}
