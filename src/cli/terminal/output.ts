import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { definedOnly } from "../../contracts/defined-only.ts";
import { StoreError } from "../../store/sql/errors.ts";
import { CliError, EXIT, type ExitCode, errorReason, unavailable } from "./cli-error.ts";
import { dim, forStandardError, printable, red, visibleInColors } from "./text.ts";
import { typeable } from "./typed.ts";

/**
 * A command's output: standard output has text for people or, with `--json`, one document for
 * programs; progress and remarks go to standard error.
 */
export class Output {
  readonly json: boolean;
  #documentWritten = false;

  constructor(options: { readonly json?: boolean | undefined } = {}) {
    this.json = options.json ?? false;
  }

  /**
   * Prints the result for people, with Payrun's commands as they can type them; a program gets the
   * same in its document.
   */
  line(text = ""): void {
    this.verbatim(visibleInColors(typeable(text)));
  }

  /** Prints the result unchanged: a script, or a file's text. */
  verbatim(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** Prints progress and remarks beside the result. */
  note(text: string): void {
    process.stderr.write(`${forStandardError(visibleInColors(typeable(text)))}\n`);
  }

  /** Prints the result for programs; nothing without `--json`. */
  document(value: unknown): void {
    if (!this.json || this.#documentWritten) return;
    this.#documentWritten = true;
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** Does what `document` does, for a document too large to be held in memory as a whole. */
  async documentInParts(parts: AsyncIterable<string>): Promise<void> {
    if (!this.json || this.#documentWritten) return;
    this.#documentWritten = true;
    await writeParts(parts);
  }
}

/** Writes to standard output as fast as its reader reads, so that nothing accumulates here. */
export async function writeParts(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) {
    if (!process.stdout.write(part)) await once(process.stdout, "drain");
  }
}

/**
 * Reports an error, never with a stack trace.
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
    ...definedOnly({ details: known.details }),
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

/** Converts a bug of Payrun's; its stack goes to a file, for the person who fixes it. */
function unexpected(error: unknown): CliError {
  const message = `unexpected: ${errorReason(error).split("\n")[0] ?? ""}`;
  const file = join(tmpdir(), `payrun-error-${process.pid}.log`);
  try {
    writeFileSync(file, `${inspect(error)}\n`, { mode: 0o600 });
    return new CliError(EXIT.failed, message, {
      code: "internal_error",
      hint: `This is a bug in Payrun itself; ${file} says where.`,
    });
  } catch {
    return new CliError(EXIT.failed, message, { code: "internal_error" });
  }
}

function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
