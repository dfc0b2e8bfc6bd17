import { RE2JS, RE2JSException } from "re2js";
import type { Fault } from "./problem.ts";

/**
 * The largest program of a pattern, in instructions: about one for each character that it names.
 */
const MOST_INSTRUCTIONS = 250;

/** The number of patterns that are kept compiled. */
const MAX_KEPT = 200;

const compiled = new Map<string, RE2JS>();

/**
 * True if some part of the text matches. RE2 follows all ways to match at once, so its time grows
 * with the text and never with the number of ways.
 */
export function matchesPattern(text: string, pattern: string): boolean {
  return compile(pattern).test(text);
}

/** Returns the size of a pattern's program, or what is wrong with the pattern. */
export function readPattern(pattern: string): number | Fault {
  if (pattern.includes(String.raw`\Q`)) return QUOTES;
  // Checked before compiling, which is slow for a long pattern.
  if (writtenOut(pattern) > 2 * MOST_INSTRUCTIONS) return TOO_LONG;
  try {
    const size = compile(pattern).programSize();
    return size > MOST_INSTRUCTIONS ? TOO_LONG : size;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return unreadable(pattern, error);
  }
}

/** Estimates the length of a pattern with its repetitions written out, without doing so. */
function writtenOut(pattern: string): number {
  const open: number[] = [];
  let length = 0;
  let last = 0;
  for (const [token, least, most] of pattern.matchAll(TOKEN)) {
    if (token === "(") {
      open.push(length);
      length = 0;
    } else {
      if (token === ")") {
        last = length;
        length = open.pop() ?? 0;
      } else last = least === undefined ? 1 : last * (Math.max(1, Number(most || least)) - 1);
      length += last;
    }
  }
  return length + open.reduce((sum, each) => sum + each, 0);
}

const TOKEN = /\\.|\[(?:\\.|[^\]])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const fresh = RE2JS.compile(pattern);
  if (compiled.size >= MAX_KEPT) compiled.clear();
  compiled.set(pattern, fresh);
  return fresh;
}

/** A quotation would hide repetitions from `writtenOut`. */
const QUOTES: Fault = {
  message: "the pattern of `matches` quotes with \\Q",
  expected: String.raw`a backslash before each special character, such as \$5\.00`,
};

const TOO_LONG: Fault = {
  message: "the pattern of `matches` is too long, or counts too far",
  expected: "a shorter pattern, or several conditions with ||",
};

function unreadable(pattern: string, error: RE2JSException): Fault {
  if (/\(\?<?[=!]/.test(pattern)) {
    return {
      message: "the pattern of `matches` looks around, which takes too long on some texts",
      expected: 'two conditions, such as TEXT.matches("rent") && !TEXT.matches("parking")',
    };
  }
  if (/\\[1-9k]/.test(pattern)) {
    return {
      message: "the pattern of `matches` refers back, which takes too long on some texts",
      expected: "what the group matches, written out again",
    };
  }
  const why = error.message.replace(/^error parsing regexp: /, "");
  return {
    message: `the pattern of \`matches\` is not a regular expression of RE2: ${why}`,
    expected: "such as ^Rent|lease [0-9]+",
  };
}
