import { exec } from "node:child_process";
import { readFile, stat } from "node:fs/promises";

/**
 * The source of the bearer token: the text itself, a file that contains it, or a command of the
 * system's shell that prints it.
 */
export type TokenSource = { value: string } | { file: string } | { command: string };

/** Says why there is no token, never what was read: a file or an output may contain a secret. */
export class TokenUnavailableError extends Error {
  override readonly name = "TokenUnavailableError";
}

const commandTimeoutMs = 30_000;
/** Checking the file for each of thousands of requests a second would be noticeable. */
const fileCheckEveryMs = 250;
/** Expired tokens from the same source would otherwise run the command for every request. */
const refetchForExpiryEveryMs = 5_000;
const expiryMarginMs = 30_000;

interface CachedToken {
  text: string;
  /** On the service's clock; undefined if the token doesn't say. */
  refreshAtMs: number | undefined;
  /** Identity of the file's content; empty for other sources. */
  version: string;
}

/**
 * Keeps the current token. It is fetched again after its file has changed, when its JWT `exp` is
 * near on the given clock, and after `invalidate`.
 */
export class TokenProvider {
  readonly #source: TokenSource;
  readonly #now: () => number;
  #cached: CachedToken | undefined;
  #fetching: Promise<CachedToken> | undefined;
  #fileCheckedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(source: TokenSource, now: () => number) {
    this.#source = source;
    this.#now = now;
  }

  /** @throws {TokenUnavailableError} if the source gives none */
  async get(): Promise<string> {
    const cached = this.#cached;
    if (cached !== undefined && !this.#nearExpiry(cached) && !(await this.#fileChanged(cached))) {
      return cached.text;
    }
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return (await this.#fetching).text;
  }

  /**
   * Forgets the token, so that the next request fetches it.
   *
   * @param rejected the token that was refused: if another has been fetched since, it stays
   */
  invalidate(rejected?: string): void {
    if (rejected === undefined || this.#cached?.text === rejected) this.#cached = undefined;
  }

  #nearExpiry(cached: CachedToken): boolean {
    if ("value" in this.#source || cached.refreshAtMs === undefined) return false;
    if (this.#now() < cached.refreshAtMs) return false;
    return performance.now() - this.#fetchedAt >= refetchForExpiryEveryMs;
  }

  async #fileChanged(cached: CachedToken): Promise<boolean> {
    if (!("file" in this.#source)) return false;
    if (performance.now() - this.#fileCheckedAt < fileCheckEveryMs) return false;
    this.#fileCheckedAt = performance.now();
    const version = await fileVersion(this.#source.file).catch(() => undefined);
    // A file that is missing for a moment while it is being replaced is no reason to stop paying.
    return version !== undefined && version !== cached.version;
  }

  async #fetch(): Promise<CachedToken> {
    const { text, version } = await readSource(this.#source);
    const token = text.trim();
    // Also keeps a token out of undici's complaint about a header that it can't send.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new TokenUnavailableError(
        `${describe(this.#source)} ${token === "" ? "gave no token" : "gave something that is not a token: one line without spaces is expected"}`,
      );
    }
    const nowMs = this.#now();
    this.#fetchedAt = performance.now();
    this.#cached = { text: token, refreshAtMs: refreshInstant(token, nowMs), version };
    return this.#cached;
  }
}

async function readSource(source: TokenSource): Promise<{ text: string; version: string }> {
  if ("value" in source) return { text: source.value, version: "" };
  if ("command" in source) return { text: await runCommand(source.command), version: "" };
  try {
    // The version is read first: the next check then notices a change between the two reads.
    const version = await fileVersion(source.file);
    return { text: await readFile(source.file, "utf8"), version };
  } catch (error) {
    throw new TokenUnavailableError(
      `the token file ${source.file} can't be read (${errorCode(error)}); check its path and permissions`,
    );
  }
}

async function fileVersion(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}

function runCommand(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    exec(command, { timeout: commandTimeoutMs, windowsHide: true }, (error, stdout) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      const how = error.killed
        ? `did not end within ${commandTimeoutMs / 1000} s`
        : `failed (${error.signal ?? `exit code ${error.code ?? "unknown"}`})`;
      // Neither the command nor its output is shown: both can contain credentials.
      reject(new TokenUnavailableError(`the token command ${how}; run it in a shell to see why`));
    });
  });
}

function describe(source: TokenSource): string {
  if ("file" in source) return `the token file ${source.file}`;
  return "command" in source ? "the token command" : "the configured token value";
}

/**
 * Returns when to fetch the next token: shortly before `exp`, so that a request in flight still has
 * it.
 */
function refreshInstant(token: string, nowMs: number): number | undefined {
  const expiresAtMs = jwtExpiry(token);
  if (expiresAtMs === undefined) return undefined;
  const lifetimeMs = Math.max(expiresAtMs - nowMs, 0);
  return expiresAtMs - Math.min(expiryMarginMs, lifetimeMs / 10);
}

function jwtExpiry(token: string): number | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    if (typeof claims !== "object" || claims === null || !("exp" in claims)) return undefined;
    return typeof claims.exp === "number" ? claims.exp * 1000 : undefined;
  } catch {
    // API keys are bearer tokens too, and need not be JWTs (API specification, section 5).
    return undefined;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
