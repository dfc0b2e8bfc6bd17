import { structuredPatch } from "diff";
import { dim, green, printable, red } from "../terminal/text.ts";

const CONTEXT_LINES = 2;

/** Returns the differences between two revisions of a playbook in the style of `git diff`. */
export function diffLines(before: string, after: string): string[] {
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: CONTEXT_LINES });
  return hunks.flatMap(({ oldStart, newStart, lines }) => [
    dim(`  @@ line ${oldStart} → ${newStart} @@`),
    ...lines.filter((line) => !line.startsWith("\\")).map(coloured),
  ]);
}

function coloured(line: string): string {
  const text = `  ${printable(line)}`;
  if (line.startsWith("+")) return green(text);
  return line.startsWith("-") ? red(text) : text;
}
