import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Document } from "yaml";
import { LineCounter, isMap, isNode, parseDocument } from "yaml";
import type { z } from "zod";

import { unseenText } from "../contracts/unseen.ts";
import type { BusinessProfile } from "./business-profile.ts";
import {
  BUSINESS_KEYS,
  businessNameProblem,
  businessShape,
  toBusinessProfile,
} from "./business-profile.ts";
import { nearest } from "./nearest.ts";
import type { Environment } from "./settings.ts";
import { isRecord } from "../contracts/is-record.ts";

/** The contents of a profiles file, and every file that was read for them. */
export interface ProfilesFile {
  readonly businesses: readonly BusinessProfile[];
  /** `file:line:column: what is wrong`; empty if the businesses can be used. */
  readonly problems: readonly string[];
  /** Those problems that remain whatever variables, and other files, there are. */
  readonly mistakes: readonly string[];
  /** The businesses as the file has them, by name, with references in place of values. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly filesRead: readonly string[];
  /**
   * What was read, by path, and settles where something goes, what runs and who decides. The files
   * of tokens are left out: tokens change by themselves, and go only where the others say.
   */
  readonly texts: ReadonlyMap<string, string>;
}

type ShapeIssue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

interface Problem {
  readonly offset: number;
  readonly message: string;
  /** True if it may be only that a variable, or another file, is missing. */
  readonly isMissing: boolean;
}

/** A value that stands elsewhere: `${env:NAME}` or `${file:PATH}`. */
export const REFERENCE = /^\$\{(env|file):([^}]+)\}$/;

/**
 * Reads the businesses of a YAML file: `businesses: { NAME: { apiUrl, businessId, … } }`. A value
 * may be `${env:NAME}` or `${file:PATH}`, with the path relative to the file's folder. No problem
 * repeats a secret's value.
 */
export function readProfilesFile(path: string, env: Environment): ProfilesFile {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    const problem = `PAYRUN_PROFILES: ${path} can't be read (${errorCode(error)})`;
    const nothing = { businesses: [], mistakes: [], written: {}, texts: new Map<string, string>() };
    return { ...nothing, problems: [problem], filesRead: [path] };
  }
  return new Reader(path, source, env).read();
}

class Reader {
  readonly #path: string;
  readonly #env: Environment;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  readonly #problems: Problem[] = [];
  #written: Readonly<Record<string, unknown>> = {};
  /**
   * Places of references that could not be resolved, and whose missing value was already reported.
   */
  readonly #unresolved = new Set<string>();
  readonly #filesRead = new Set<string>();
  readonly #texts = new Map<string, string>();

  constructor(path: string, source: string, env: Environment) {
    this.#path = path;
    this.#env = env;
    this.#filesRead.add(path);
    this.#texts.set(path, source);
    this.#document = parseDocument(source, { lineCounter: this.#lines, prettyErrors: false });
  }

  read(): ProfilesFile {
    const businesses = this.#businesses();
    const inOrder = this.#problems.toSorted((one, other) => one.offset - other.offset);
    return {
      businesses,
      problems: inOrder.map((problem) => this.#lineOf(problem)),
      mistakes: inOrder.flatMap((each) => (each.isMissing ? [] : this.#lineOf(each))),
      written: this.#written,
      filesRead: [...this.#filesRead],
      texts: this.#texts,
    };
  }

  #businesses(): BusinessProfile[] {
    for (const error of this.#document.errors) this.#problem(error.pos[0], error.message);
    if (this.#problems.length > 0) return [];
    const written = this.#plain();
    if (written === undefined) return [];
    this.#written = written;
    const found: BusinessProfile[] = [];
    for (const [name, value] of Object.entries(written)) {
      const profile = this.#business(name, value);
      if (profile) found.push(profile);
    }
    this.#refuseSharedIds(found);
    return found;
  }

  /**
   * Returns `businesses` as plain values. Refuses aliases: a few can stand for millions of values.
   */
  #plain(): Record<string, unknown> | undefined {
    let whole: unknown;
    try {
      whole = this.#document.toJS({ maxAliasCount: 0 });
    } catch {
      this.#problem(0, "aliases (*name) are not allowed here: write the value out");
      return undefined;
    }
    for (const key of isRecord(whole) ? Object.keys(whole) : []) {
      if (key !== "businesses") this.#problemAt([key], `unknown key ${key}: only businesses here`);
    }
    const businesses = isRecord(whole) ? whole["businesses"] : undefined;
    if (!isRecord(businesses) || Object.keys(businesses).length === 0) {
      this.#problem(0, "expected businesses: with at least one business under it");
      return undefined;
    }
    return businesses;
  }

  #business(name: string, value: unknown): BusinessProfile | undefined {
    const at: Path = ["businesses", name];
    const before = this.#problems.length;
    const misnamed = businessNameProblem(name);
    if (misnamed) this.#problemAt(at, `${name}: ${misnamed}`);
    if (!isRecord(value)) {
      this.#problemAt(at, `${name}: expected apiUrl, businessId, token and so on under it`);
      return undefined;
    }
    const { token, ...rest } = value;
    const isTwice = token !== undefined && rest["tokenCommand"] !== undefined;
    const isNowhere = token === undefined && rest["tokenCommand"] === undefined;
    if (isTwice) this.#problemAt(at, `${name}: token and tokenCommand are both given: keep one`);
    if (isNowhere) this.#problemAt(at, `${name}: token or tokenCommand is missing`);
    const fields = this.#resolveAll(rest, at);
    const source = token === undefined ? undefined : this.#token(token, [...at, "token"]);
    const parsed = businessShape.safeParse({ ...fields, ...(source ? { token: source } : {}) });
    if (parsed.success) {
      return this.#problems.length > before ? undefined : toBusinessProfile(name, parsed.data);
    }
    for (const issue of parsed.error.issues) this.#shapeProblem(name, issue);
    return undefined;
  }

  #shapeProblem(name: string, issue: ShapeIssue): void {
    const path = issue.path.filter((part) => typeof part !== "symbol");
    const at = ["businesses", name, ...path];
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const meant = nearest(key, BUSINESS_KEYS);
        const hint = meant ? `: did you mean ${meant}?` : "";
        this.#problemAt([...at, key], `${name}: unknown key ${key}${hint}`);
      }
      return;
    }
    if (path.length > 0 && this.#lacks(at)) return;
    // A rule between settings may be broken only because one of them is missing.
    const isUnsure = issue.code === "custom" && this.#lacks(["businesses", name]);
    const field = path.length > 0 ? `${path.join(".")} ` : "";
    const isMissing = path.length > 0 && !this.#document.hasIn(at);
    this.#problemAt(at, `${name}: ${field}${isMissing ? "is missing" : issue.message}`, isUnsure);
  }

  /** True if a reference there, or below it, could not be resolved. */
  #lacks(at: Path): boolean {
    const here = `${at.join("/")}/`;
    return [...this.#unresolved].some((place) => `${place}/`.startsWith(here));
  }

  /** Keeps a token in a file as a file, so that the client reads it again if it is refused. */
  #token(value: unknown, at: Path): BusinessProfile["token"] | undefined {
    const reference = typeof value === "string" ? REFERENCE.exec(value.trim()) : null;
    if (reference?.[1] === "file") {
      const path = this.#relative(reference[2] ?? "");
      return this.#read(path, at) === undefined ? undefined : { kind: "file", path };
    }
    const resolved = this.#resolve(value, at);
    if (typeof resolved === "string" && resolved.trim() !== "") {
      return { kind: "value", value: resolved.trim() };
    }
    if (resolved !== undefined) this.#problemAt(at, `${at[1]}: token must be text`);
    return undefined;
  }

  #resolveAll(value: Record<string, unknown>, at: Path): Record<string, unknown> {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, this.#resolve(item, [...at, key])]),
    );
  }

  #resolve(value: unknown, at: Path): unknown {
    if (Array.isArray(value)) {
      return value.map((item: unknown, index) => this.#resolve(item, [...at, index]));
    }
    if (isRecord(value)) return this.#resolveAll(value, at);
    if (typeof value !== "string" || !value.includes("${")) return value;
    const reference = REFERENCE.exec(value.trim());
    const [, kind, target = ""] = reference ?? [];
    if (kind === "file") return this.#fileValue(this.#relative(target), at);
    if (kind === "env") return this.#envValue(target, at);
    const why = "a reference is the whole value, ${env:NAME} or ${file:PATH}";
    return this.#unresolvable(at, why);
  }

  #envValue(name: string, at: Path): string | undefined {
    const value = this.#env[name.trim()]?.trim();
    return value || this.#missing(at, `the environment has no ${name.trim()}`);
  }

  #fileValue(path: string, at: Path): string | undefined {
    const text = this.#read(path, at);
    if (text !== undefined) this.#texts.set(path, text);
    return text?.trim();
  }

  /** Returns the text of a file that must not be empty. */
  #read(path: string, at: Path): string | undefined {
    this.#filesRead.add(path);
    try {
      const text = readFileSync(path, "utf8");
      return text.trim() === "" ? this.#missing(at, `${path} is empty`) : text;
    } catch (error) {
      return this.#missing(at, `${path} can't be read (${errorCode(error)})`);
    }
  }

  #unresolvable(at: Path, why: string, isMissing = false): undefined {
    this.#unresolved.add(at.join("/"));
    this.#problemAt(at, `${at.slice(1).join(".")}: ${why}`, isMissing);
  }

  #missing(at: Path, why: string): undefined {
    this.#unresolvable(at, why, true);
  }

  #relative(path: string): string {
    return resolve(dirname(this.#path), path.trim());
  }

  /** Refuses two names for one business, which would make two owners of its bills. */
  #refuseSharedIds(businesses: readonly BusinessProfile[]): void {
    const names = new Map<string, string>();
    for (const { name, businessId } of businesses) {
      const other = names.get(businessId);
      const why = `${name}: businessId ${businessId} is already ${other}'s`;
      if (other !== undefined) this.#problemAt(["businesses", name, "businessId"], why);
      names.set(businessId, name);
    }
  }

  /** Points at the key's value; if that is missing, at the nearest node around it. */
  #problemAt(path: Path, message: string, isMissing = false): void {
    for (let length = path.length; length > 0; length -= 1) {
      const node = this.#document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) {
        const isBlock = isMap(node) && length > 1;
        return this.#problem(
          isBlock ? this.#keyOffset(path.slice(0, length)) : node.range[0],
          message,
          isMissing,
        );
      }
    }
    this.#problem(0, message, isMissing);
  }

  #keyOffset(path: Path): number {
    const parent =
      path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true);
    const pairs = isMap(parent) ? parent.items : [];
    const pair = pairs.find(({ key }) => isNode(key) && String(key) === String(path.at(-1)));
    return pair && isNode(pair.key) && pair.key.range ? pair.key.range[0] : 0;
  }

  #problem(offset: number, message: string, isMissing = false): void {
    this.#problems.push({ offset, message, isMissing });
  }

  #lineOf({ offset, message }: Problem): string {
    const { line, col } = this.#lines.linePos(offset);
    const lines = (this.#texts.get(this.#path) ?? "").split("\n");
    const unseen = unseenText(lines[Math.max(line, 1) - 1] ?? "");
    const said = unseen === null ? message : `${message}; ${unseen}`;
    return `${this.#path}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${said}`;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
