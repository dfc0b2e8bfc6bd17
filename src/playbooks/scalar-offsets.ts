import { isScalar } from "yaml";

const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const BLANK_ESCAPES = new Set(["\n", "\r", " ", "t", "\t", "n", "r"]);

/**
 * Finds where in a file the character at `index` of a text value is, whether the text is plain,
 * quoted, folded or a block.
 *
 * Folding changes only white space, so the two texts agree run by run: white space against white
 * space, everything else character by character.
 *
 * @returns the offset in the file; undefined if the value is not a text
 */
export function offsetInScalar(node: unknown, file: string, index: number): number | undefined {
  if (!isScalar(node) || typeof node.value !== "string" || !node.range) return undefined;
  const [start, end] = node.range;
  const value = node.value;
  const quote = node.type === "QUOTE_DOUBLE" ? '"' : node.type === "QUOTE_SINGLE" ? "'" : "";
  const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  let at = isBlock ? file.indexOf("\n", start) + 1 : start + quote.length;
  let read = 0;
  while (at < end) {
    const blankStart = at;
    while (at < end && blankLength(file, at, quote) > 0) at += blankLength(file, at, quote);
    const blankRead = read;
    while (read < value.length && /\s/.test(value.charAt(read))) read++;
    if (index < read) return Math.min(blankStart + index - blankRead, Math.max(blankStart, at - 1));
    if (index === read || read >= value.length) return at;
    const { raw, decoded } = charLength(file, at, quote);
    at += raw;
    read += decoded;
    if (index < read) return at - raw;
  }
  return end;
}

function blankLength(file: string, at: number, quote: string): number {
  const char = file.charAt(at);
  if (/\s/.test(char)) return 1;
  return quote === '"' && char === "\\" && BLANK_ESCAPES.has(file.charAt(at + 1)) ? 2 : 0;
}

function charLength(file: string, at: number, quote: string): { raw: number; decoded: number } {
  const char = file.charAt(at);
  if (quote === "'" && char === "'") return { raw: 2, decoded: 1 };
  if (quote !== '"' || char !== "\\") return { raw: 1, decoded: 1 };
  const digits = HEX_ESCAPES[file.charAt(at + 1)] ?? 0;
  const code = Number.parseInt(file.slice(at + 2, at + 2 + digits), 16);
  return { raw: 2 + digits, decoded: digits === 8 && code > 0xffff ? 2 : 1 };
}
