import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { StoreError } from "../../store/sql/errors.ts";
import { CliError, EXIT, type ExitCode, reasonOf, unavailable } from "./cli-error.ts";
import { dim, forStandardError, printable, red } from "./text.ts";
import { typeable } from "./typed.ts";

/**
 * Where a command speaks: people read standard output, or programs one document there with `--json`;
 * progress and remarks go to standard error.
 */
export class Output {
  readonly json: boolean;
  #documentWritten = false;

  constructor(options: { readonly json?: boolean | undefined } = {}) {
    this.json = options.json ?? false;
  }

  /**
   * The result, for people, with commands of ours as they can type them; a program gets the same in
   * its document.
   */
  line(text = ""): void {
    this.verbatim(typeable(text));
  }

  /** The result as it stands: a script, or a file's text. */
  verbatim(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** Progress and remarks beside the result. */
  note(text: string): void {
    process.stderr.write(`${forStandardError(typeable(text))}\n`);
  }

  /** The result, for programs; nothing unless `--json` was asked for. */
  document(value: unknown): void {
    if (!this.json || this.#documentWritten) return;
    this.#documentWritten = true;
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** As `document`, for one that is too large to be held at once. */
  async documentInParts(parts: AsyncIterable<string>): Promise<void> {
    if (!this.json || this.#documentWritten) return;
    this.#documentWritten = true;
    await writeParts(parts);
  }
}

/** Writes to standard output as fast as its reader reads, so that nothing piles up here. */
export async function writeParts(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) {
    if (!process.stdout.write(part)) await once(process.stdout, "drain");
  }
}

/**
 * Says what went wrong, never with a stack trace.
 *
 * @returns the exit code for it
 */
export function reportError(error: unknown, output: Output): ExitCode {
  const known = knownError(error);
  output.note(`${red("error:")} ${printableLines(known.message)}`);
  if (known.hint !== undefined) output.note(dim(printableLines(known.hint)));
  output.document({
    error: known.code,
    message: known.message,
    ...(known.details === undefined ? {} : { details: known.details }),
  });
  return known.exitCode;
}

function knownError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof StoreError) {
    return unavailable(
      `store_${error.code}`,
      error.message,
      "“payrun doctor” looks at everything.",
    );
  }
  return unexpected(error);
}

/** A fault of ours: its stack goes to a file, for whoever mends it. */
function unexpected(error: unknown): CliError {
  const message = `unexpected: ${reasonOf(error).split("\n")[0] ?? ""}`;
  const file = join(tmpdir(), `payrun-error-${process.pid}.log`);
  try {
    writeFileSync(file, `${inspect(error)}\n`, { mode: 0o600 });
    return new CliError(EXIT.failed, message, {
      code: "internal_error",
      hint: `This is a fault of Payrun itself; ${file} says where.`,
    });
  } catch {
    return new CliError(EXIT.failed, message, { code: "internal_error" });
  }
}

function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
