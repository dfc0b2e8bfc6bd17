import { readdirSync } from "node:fs";
import { join } from "node:path";

import { nearest } from "../../config/nearest.ts";
import { usageError } from "../terminal/cli-error.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

/** Returns the path of the local administrator's token. */
export const localAdminPath = (home: string) => join(home, "admin.token");

/** Returns the path of another person's token in this home, for a name that `--as` takes. */
export const personPath = (home: string, name: string) =>
  join(home, "people", `${encodeURIComponent(name)}${ENDING}`);

const ENDING = ".token";

/** The name that acts if no person is specified. */
export const LOCAL_ADMIN = "local-admin";

/** The name that decides at a sandbox: the local administrator, who launches there, may not. */
export const LOCAL_APPROVER = "approver";

const boundPath = (home: string) => join(home, "gateway.url");

/**
 * Returns the address of the gateway that this home's tokens were made for; undefined if the home
 * doesn't say.
 */
export function gatewayOfTokens(home: string): string | undefined {
  return readIfThere(boundPath(home))?.trim();
}

/** Records the gateway that this home's tokens are for: they are sent nowhere else. */
export function bindTokens(home: string, gatewayUrl: string): void {
  writePrivate(boundPath(home), `${gatewayUrl}\n`);
}

/** Returns the option that names the local approver; empty if the home doesn't keep their token. */
export function asApprover(home: string): string {
  return readToken(personPath(home, LOCAL_APPROVER)) === undefined ? "" : ` --as ${LOCAL_APPROVER}`;
}

/** Returns the local administrator's token, as the commands on this machine find it. */
export function readLocalAdmin(home: string): string | undefined {
  return readToken(localAdminPath(home));
}

/** The token and the home that a command's settings give. */
interface Speaker {
  readonly token?: string | undefined;
  readonly home: string;
}

/** Returns the token that commands use: the settings' own, otherwise the local administrator's. */
export function ownToken({ token, home }: Speaker): string | undefined {
  return token ?? readLocalAdmin(home);
}

/**
 * Returns a person's token. The name may differ in case if only one name matches.
 *
 * @throws {CliError} 2 if the home has no token of that name
 */
export function readPerson(home: string, name: string): string {
  const token = tokenOf(home, name);
  if (token !== undefined) return token;
  const known = peopleOfHome(home);
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

/** Returns the token in a file; undefined if the file is missing or empty. */
export function readToken(path: string): string | undefined {
  const text = readIfThere(path)?.trim();
  return text === "" ? undefined : text;
}

/**
 * Replaces the old secret of the token that commands use, which is no longer valid, with the new
 * one everywhere this home keeps it.
 *
 * @returns the home; null if it didn't keep the old secret
 */
export function replaceOwnToken(speaker: Speaker, next: string): string | null {
  const { home } = speaker;
  const old = ownToken(speaker);
  const kept = [localAdminPath(home), ...peopleIn(home).map((name) => personPath(home, name))];
  const stale = kept.filter((path) => old !== undefined && readToken(path) === old);
  for (const path of stale) writePrivate(path, `${next}\n`);
  return stale.length > 0 ? home : null;
}

/** Returns the names that `--as` accepts here. */
export function peopleOfHome(home: string): string[] {
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
