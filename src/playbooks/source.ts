import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node, YAMLMap } from "yaml";
import { unseenText } from "../contracts/unseen.ts";
import { type Fault, MISTAKES_MOST, type Problem } from "./problem.ts";
import { offsetInScalar } from "./scalar-offsets.ts";

/** The path from the top of a playbook to one of its values: keys and list indexes. */
export type Path = readonly (string | number)[];

/** A mistake in the value at a path, or in its key. */
export interface Issue extends Fault {
  readonly path: Path;
  readonly anchor: "key" | "value";
}

/** A playbook's text with its tree, which gives the place of each value. */
export interface Source {
  /** Plain data, with keys as they are written. */
  readonly value: unknown;
  /** What YAML itself finds wrong, plus aliases, duplicate keys and foreign tags. */
  readonly problems: readonly Problem[];
  /** First offset that a syntax mistake made unreliable, or infinity. */
  readonly reliableUntil: number;
  has(path: Path): boolean;
  offsetOf(path: Path): number;
  locate(issue: Issue): Problem;
}

const MAX_DEPTH = 20;

/** Parses YAML 1.2 (core schema). Never throws, and keeps every position. */
export function readSource(text: string, file: string): Source {
  const lines = new LineCounter();
  const place = placer(text, file, lines);
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      version: "1.2",
      schema: "core",
    });
  } catch {
    return unreadable(place(0, 1, { message: "this can't be read as YAML" }));
  }
  const syntax = document.errors.map((error) =>
    place(error.pos[0], error.pos[1], sayYamlError(error.code, error.message)),
  );
  const tree = new TreeReader(place);
  const value = tree.read(document.contents, 0);
  const firstError = Math.min(...document.errors.map((error) => error.pos[0]));
  return {
    value,
    problems: [...syntax.slice(0, 1), ...tree.problems],
    reliableUntil: startOfPair(document.contents, firstError),
    has: (path) => nodeAt(document.contents, path) !== undefined,
    offsetOf: (path) => rangeOf(document.contents, path, "value")[0],
    locate: (issue) => {
      const [start, end] = rangeOf(document.contents, issue.path, issue.anchor);
      const node = nodeAt(document.contents, issue.path);
      if (issue.range === undefined || node === undefined) return place(start, end, issue);
      const from = offsetInScalar(node, text, issue.range.start) ?? start;
      const last = Math.max(issue.range.start, issue.range.end - 1);
      return place(from, (offsetInScalar(node, text, last) ?? end - 1) + 1, issue);
    },
  };
}

type Place = (start: number, end: number, fault: Fault) => Problem;

function placer(text: string, file: string, lines: LineCounter): Place {
  return (start, end, fault) => {
    const { line, col } = lines.linePos(Math.min(start, text.length));
    const lineStart = lines.lineStarts[line - 1] ?? 0;
    const nextLine = lines.lineStarts[line] ?? text.length + 1;
    const sourceLine = text.slice(lineStart, nextLine).replace(/[\r\n]+$/, "");
    const column = Math.max(1, col);
    const unseen = unseenText(sourceLine);
    const lastColumn = sourceLine.trimEnd().length + 1;
    const endColumn = Math.max(column + 1, Math.min(column + Math.max(1, end - start), lastColumn));
    return {
      file,
      line: Math.max(1, line),
      column,
      endColumn,
      message: unseen === null ? fault.message : `${fault.message}; ${unseen}`,
      ...(fault.expected === undefined ? {} : { expected: fault.expected }),
      ...(fault.didYouMean === undefined ? {} : { didYouMean: fault.didYouMean }),
      sourceLine,
    };
  };
}

function unreadable(problem: Problem): Source {
  return {
    value: null,
    problems: [problem],
    reliableUntil: 0,
    has: () => false,
    offsetOf: () => 0,
    locate: () => problem,
  };
}

/** Turns the tree into plain data, and refuses what a playbook doesn't need. */
class TreeReader {
  readonly problems: Problem[] = [];
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  read(node: unknown, depth: number): unknown {
    if (!isNode(node)) return null;
    if (isAlias(node)) {
      this.#refuse(node, "aliases are not allowed in a playbook", "the value itself, written out");
      return undefined;
    }
    if (depth > MAX_DEPTH) {
      this.#refuse(node, "this is nested too deeply", `at most ${MAX_DEPTH} levels`);
      return undefined;
    }
    if (node.tag !== undefined && !node.tag.startsWith("tag:yaml.org,2002:")) {
      this.#refuse(node, `the tag ${node.tag} is not allowed in a playbook`, "the value alone");
    }
    if (isSeq(node)) return node.items.map((item) => this.read(item, depth + 1));
    if (isMap(node)) return this.#readMap(node, depth);
    if (!isScalar(node)) return null;
    if (node.value instanceof Uint8Array) {
      this.#refuse(node, "binary data is not allowed in a playbook", "text");
      return "";
    }
    return node.value;
  }

  #readMap(map: YAMLMap, depth: number): unknown {
    const entries = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      const name = keyName(key);
      if (name === null) {
        if (isNode(key)) this.#refuse(key, "a key must be a single word", "a key such as kind");
        continue;
      }
      if (entries.has(name) && isNode(key)) {
        this.#refuse(key, `\`${name}\` is given twice`, "each key once");
        continue;
      }
      entries.set(name, this.read(value, depth + 1));
    }
    return Object.fromEntries(entries);
  }

  #refuse(node: Node, message: string, expected: string): void {
    if (this.problems.length === MISTAKES_MOST) return;
    const [start, end] = node.range ?? [0, 1];
    this.problems.push(this.#place(start, end, { message, expected }));
  }
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}

/** Returns a key as written: `000`, which YAML takes for a number, stays `000`. */
function keyName(key: unknown): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function findPair(node: unknown, key: string): { key: unknown; value: unknown } | undefined {
  return isMap(node) ? node.items.find((item) => keyName(item.key) === key) : undefined;
}

function nodeAt(root: unknown, path: Path): unknown {
  let node = root;
  for (const step of path) {
    const next =
      typeof step === "number"
        ? isSeq(node)
          ? node.items[step]
          : undefined
        : findPair(node, step)?.value;
    if (next === undefined) return undefined;
    node = next;
  }
  return node;
}

/**
 * Returns the range of the value or key at a path; otherwise of the nearest existing thing above
 * it.
 */
function rangeOf(root: unknown, path: Path, anchor: "key" | "value"): [number, number] {
  const step = path.at(-1);
  if (step === undefined) return topRange(root);
  const parent = nodeAt(root, path.slice(0, -1));
  const pair = typeof step === "string" ? findPair(parent, step) : undefined;
  const node = pair === undefined ? nodeAt(root, path) : pair.value;
  if (anchor === "value" && isNode(node) && node.range && !isEmpty(node)) {
    return [node.range[0], node.range[1]];
  }
  if (pair !== undefined && isNode(pair.key) && pair.key.range) {
    return [pair.key.range[0], pair.key.range[1]];
  }
  if (isNode(node) && node.range) return [node.range[0], node.range[1]];
  return rangeOf(root, path.slice(0, -1), "key");
}

// A mistake about something missing at the top is shown at the first key, not as a caret under the
// whole file.
function topRange(root: unknown): [number, number] {
  const first = isMap(root) ? root.items[0]?.key : root;
  return isNode(first) && first.range ? [first.range[0], first.range[1]] : [0, 1];
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.value === null && (node.source ?? "") === "";
}

/**
 * Returns the start of the top-level key that contains a syntax mistake: everything above it was
 * read correctly.
 */
function startOfPair(root: unknown, errorOffset: number): number {
  if (errorOffset === Number.POSITIVE_INFINITY) return errorOffset;
  if (!isMap(root)) return 0;
  const starts = root.items.flatMap(({ key }) => (isNode(key) && key.range ? [key.range[0]] : []));
  return Math.max(0, ...starts.filter((start) => start <= errorOffset));
}

const YAML_ERRORS: Readonly<Record<string, Fault>> = {
  TAB_AS_INDENT: { message: "a tab indents this line", expected: "spaces" },
  MULTIPLE_DOCS: {
    message: "a second document starts here",
    expected: "one playbook in a file, without `---` between parts",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "a second `:` on this line",
    expected: "quotes around a text that contains `: `",
  },
  BLOCK_IN_FLOW: {
    message: "this doesn't fit into { } or [ ]",
    expected: "a comma between two entries",
  },
  MULTILINE_IMPLICIT_KEY: {
    message: "this is not a key with a value",
    expected: "`key: value`, with a space after the colon",
  },
  RESOURCE_EXHAUSTION: { message: "this is nested too deeply", expected: "a few levels at most" },
};

function sayYamlError(code: string, message: string): Fault {
  const known = YAML_ERRORS[code];
  return (
    known ?? { message: `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}` }
  );
}
