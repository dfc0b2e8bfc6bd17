import { bold, dim, wrapped } from "../terminal/text.ts";

/** Narrates the demo as it runs: a heading for each step, with the time since the start. */
export class Narrator {
  readonly #startedAtMs = Date.now();

  heading(text: string): void {
    const seconds = Math.round((Date.now() - this.#startedAtMs) / 1000);
    this.#write(`\n${bold(text)}  ${dim(`${seconds} s`)}`);
  }

  line(text: string): void {
    this.#write(`  ${text}`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** Writes a sentence of any length. */
  text(text: string): void {
    this.lines(wrapped(text));
  }

  /** Writes without indentation, for the first and the last lines. */
  plain(text: string): void {
    this.#write(text);
  }

  #write(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}
