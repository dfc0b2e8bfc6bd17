import { bold, dim, wrapped } from "../terminal/text.ts";

/** Tells the demo as it goes: a heading for each step, with the time since the start. */
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

  /** A sentence of any length. */
  text(text: string): void {
    this.lines(wrapped(text));
  }

  /** Not indented: for the first and the last lines. */
  plain(text: string): void {
    this.#write(text);
  }

  #write(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}
