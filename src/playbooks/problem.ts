/** One mistake in a playbook, at the place where its author can fix it. */
export interface Problem {
  readonly file: string;
  /** Counted from 1; 1 if the file itself is the mistake. */
  readonly line: number;
  /** Counted from 1 in UTF-16 units, as editors count. */
  readonly column: number;
  /** First column after the faulty text, on the same line. */
  readonly endColumn?: number;
  readonly message: string;
  /** What would have been right, ready to print after "expected". */
  readonly expected?: string;
  /** The likeliest intended text, without quotes. */
  readonly didYouMean?: string;
  /** The whole line; empty if there is none to show. */
  readonly sourceLine: string;
}

/**
 * The most mistakes that are reported of one text. A text with more is no playbook; explaining each
 * would take seconds, and show a long line thousands of times.
 */
export const MISTAKES_MOST = 100;

/** A mistake whose place in the text is not known yet. */
export interface Fault {
  readonly message: string;
  readonly expected?: string;
  readonly didYouMean?: string;
  /**
   * Part of the value that is wrong, as offsets into the parsed text; the whole value if absent.
   */
  readonly range?: { readonly start: number; readonly end: number };
}

const MAX_SHOWN_COLUMNS = 160;

/**
 * Renders mistakes for a terminal: `file:line:column  message`, the line with carets under the
 * faulty text, what was expected and what was probably meant. Never contains control characters.
 */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join("\n\n");
}

function formatProblem(problem: Problem): string {
  const out = [`${problem.file}:${problem.line}:${problem.column}  ${problem.message}`];
  if (problem.sourceLine.trim() !== "") {
    const gutter = String(problem.line);
    const { text, column, endColumn } = clip(problem);
    const pad = text.slice(0, column - 1).replace(/[^\t]/g, " ");
    const carets = "^".repeat(Math.max(1, endColumn - column));
    out.push(`  ${gutter} | ${text}`, `  ${" ".repeat(gutter.length)} | ${pad}${carets}`);
  }
  if (problem.expected !== undefined) out.push(`  expected ${problem.expected}`);
  if (problem.didYouMean !== undefined) out.push(`  did you mean \`${problem.didYouMean}\`?`);
  return out.map(printable).join("\n");
}

function clip(problem: Problem): { text: string; column: number; endColumn: number } {
  const { sourceLine, column } = problem;
  const endColumn = problem.endColumn ?? column + 1;
  if (sourceLine.length <= MAX_SHOWN_COLUMNS) return { text: sourceLine, column, endColumn };
  const from = Math.max(0, Math.min(column - 40, sourceLine.length - MAX_SHOWN_COLUMNS));
  return {
    text: sourceLine.slice(from, from + MAX_SHOWN_COLUMNS),
    column: column - from,
    endColumn: Math.min(endColumn - from, MAX_SHOWN_COLUMNS + 1),
  };
}

// A file name or a line of another person's file must not be able to control the reader's terminal.
function printable(text: string): string {
  return text.replace(/[^\t\P{C}]/gu, "·");
}
