import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Document } from "yaml";
import { LineCounter, isMap, isNode, parseDocument } from "yaml";
import type { z } from "zod";

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
  readonly filesRead: readonly string[];
}

type ShapeIssue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

const REFERENCE = /^\$\{(env|file):([^}]+)\}$/;

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
    return { businesses: [], problems: [problem], filesRead: [path] };
  }
  return new Reader(path, source, env).read();
}

class Reader {
  readonly #path: string;
  readonly #env: Environment;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  readonly #problems: { offset: number; message: string }[] = [];
  /**
   * Places of references that could not be resolved, and whose missing value was already reported.
   */
  readonly #unresolved = new Set<string>();
  readonly #filesRead = new Set<string>();

  constructor(path: string, source: string, env: Environment) {
    this.#path = path;
    this.#env = env;
    this.#filesRead.add(path);
    this.#document = parseDocument(source, { lineCounter: this.#lines, prettyErrors: false });
  }

  read(): ProfilesFile {
    const businesses = this.#businesses();
    const inOrder = this.#problems.toSorted((one, other) => one.offset - other.offset);
    const problems = inOrder.map((problem) => this.#lineOf(problem));
    return { businesses, problems, filesRead: [...this.#filesRead] };
  }

  #businesses(): BusinessProfile[] {
    for (const error of this.#document.errors) this.#problem(error.pos[0], error.message);
    if (this.#problems.length > 0) return [];
    const written = this.#plain();
    if (written === undefined) return [];
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
    const here = at.join("/");
    const isTold = [...this.#unresolved].some((told) => `${told}/`.startsWith(`${here}/`));
    if (path.length > 0 && isTold) return;
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const meant = nearest(key, BUSINESS_KEYS);
        const hint = meant ? `: did you mean ${meant}?` : "";
        this.#problemAt([...at, key], `${name}: unknown key ${key}${hint}`);
      }
      return;
    }
    const field = path.length > 0 ? `${path.join(".")} ` : "";
    const isMissing = path.length > 0 && !this.#document.hasIn(at);
    this.#problemAt(at, `${name}: ${field}${isMissing ? "is missing" : issue.message}`);
  }

  /** Keeps a token in a file as a file, so that the client reads it again if it is refused. */
  #token(value: unknown, at: Path): BusinessProfile["token"] | undefined {
    const reference = typeof value === "string" ? REFERENCE.exec(value.trim()) : null;
    if (reference?.[1] === "file") {
      const path = this.#relative(reference[2] ?? "");
      return this.#fileValue(path, at) === undefined ? undefined : { kind: "file", path };
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
    return value || this.#unresolvable(at, `the environment has no ${name.trim()}`);
  }

  #fileValue(path: string, at: Path): string | undefined {
    this.#filesRead.add(path);
    try {
      const value = readFileSync(path, "utf8").trim();
      return value || this.#unresolvable(at, `${path} is empty`);
    } catch (error) {
      return this.#unresolvable(at, `${path} can't be read (${errorCode(error)})`);
    }
  }

  #unresolvable(at: Path, why: string): undefined {
    this.#unresolved.add(at.join("/"));
    this.#problemAt(at, `${at.slice(1).join(".")}: ${why}`);
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
  #problemAt(path: Path, message: string): void {
    for (let length = path.length; length > 0; length -= 1) {
      const node = this.#document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) {
        const isBlock = isMap(node) && length > 1;
        return this.#problem(
          isBlock ? this.#keyOffset(path.slice(0, length)) : node.range[0],
          message,
        );
      }
    }
    this.#problem(0, message);
  }

  #keyOffset(path: Path): number {
    const parent =
      path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true);
    const pairs = isMap(parent) ? parent.items : [];
    const pair = pairs.find(({ key }) => isNode(key) && String(key) === String(path.at(-1)));
    return pair && isNode(pair.key) && pair.key.range ? pair.key.range[0] : 0;
  }

  #problem(offset: number, message: string): void {
    this.#problems.push({ offset, message });
  }

  #lineOf({ offset, message }: { offset: number; message: string }): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#path}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${message}`;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
