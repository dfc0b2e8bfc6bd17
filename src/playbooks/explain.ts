import type { z } from "zod";
import type { Playbook } from "../contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "./kinds/index.ts";
import { type Fault, MISTAKES_MOST } from "./problem.ts";
import { type JsonSchema, kindJsonSchema } from "./schema-json.ts";
import type { Issue, Path, Source } from "./source.ts";
import { suggest } from "../domain/suggest.ts";
import { shown } from "./texts.ts";

const schemas = new Map<Playbook["kind"], JsonSchema>();

function schemaOf(kind: Playbook["kind"]): JsonSchema {
  const known = schemas.get(kind);
  if (known !== undefined) return known;
  const schema = kindJsonSchema(kind);
  // An author who mistypes the kind needs the list of all kinds.
  const named = {
    ...schema,
    properties: { ...schema.properties, kind: { enum: Object.keys(PLAYBOOK_KINDS) } },
  };
  schemas.set(kind, named);
  return named;
}

/** Turns zod's findings into sentences for a playbook's author, each with its place. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  source: Source,
  kind: Playbook["kind"],
): Issue[] {
  const root = schemaOf(kind);
  return issues.flatMap((issue): Issue[] => {
    const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
    if (issue.code === "unrecognized_keys") {
      return issue.keys.slice(0, MISTAKES_MOST).map((key) => ({
        path: [...path, key],
        anchor: "key",
        ...(formerKey(key, path, kind) ?? unknownKey(key, path, root)),
      }));
    }
    const ofShape = issue.code === "invalid_union" ? ofWrittenShape(issue) : [];
    if (ofShape.length > 0) return explainIssues(ofShape, source, kind);
    const node = schemaAt(root, path);
    if (!source.has(path)) return [{ path, anchor: "key", ...missing(path, node) }];
    if (issue.code === "custom") return [{ path, anchor: "value", ...readerFault(issue) }];
    const value = valueAt(source.value, path);
    return [{ path, anchor: "value", ...wrongValue(issue, path, value, node) }];
  });
}

/** Returns the mistakes of the one shape, list or mapping, in which a value is written. */
function ofWrittenShape({ errors, path }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] {
  const fits = errors.find((issues) =>
    issues.every((issue) => issue.path.length > 0 || issue.code !== "invalid_type"),
  );
  return (fits ?? []).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

function readerFault(issue: z.core.$ZodIssueCustom): Fault {
  const fault: unknown = issue.params?.["fault"];
  return isFault(fault) ? fault : { message: issue.message };
}

function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "message" in value;
}

function formerKey(key: string, path: Path, kind: Playbook["kind"]): Fault | undefined {
  const dottedKey = dotted([...path, key]);
  const expected = PLAYBOOK_KINDS[kind].formerKeys.get(dottedKey);
  return expected === undefined
    ? undefined
    : { message: `\`${dottedKey}\` is no longer a key of \`kind: ${kind}\``, expected };
}

function unknownKey(key: string, path: Path, root: JsonSchema): Fault {
  const known = Object.keys(schemaAt(root, path)?.properties ?? {});
  if (/^\d{3}(\.\d+)?[kKM]?$/.test(key)) {
    return {
      message: `\`${key}\` is cut off: inside { } a comma ends the amount`,
      expected: 'quotes around an amount with commas, such as "$75,000", or the short form $75k',
    };
  }
  const elsewhere = findKey(root, key);
  const guess = suggest(key, known) ?? elsewhere;
  return {
    message: `unknown key \`${key}\`${path.length === 0 ? "" : ` under \`${dotted(path)}\``}`,
    expected: `one of ${known.join(", ")}`,
    ...(guess === undefined ? {} : { didYouMean: guess }),
  };
}

/** Returns where else a key would be right, such as `limits.bill`: the place nearest to the top. */
function findKey(root: JsonSchema, key: string): string | undefined {
  let level = [{ node: root, prefix: "" }];
  while (level.length > 0) {
    const below: typeof level = [];
    for (const { node, prefix } of level) {
      for (const [name, child] of Object.entries(node.properties ?? {})) {
        const here = prefix === "" ? name : `${prefix}.${name}`;
        if (name === key) return here;
        const { items } = child;
        if (items !== undefined) below.push({ node: items, prefix: `${here}[]` });
        below.push({ node: child, prefix: here });
      }
    }
    level = below;
  }
  return undefined;
}

function missing(path: Path, node: JsonSchema | undefined): Fault {
  const key = String(path.at(-1) ?? "");
  const above = path.slice(0, -1);
  const where = above.length === 0 ? "" : ` under \`${dotted(above)}\``;
  const example = exampleOf(node);
  const expected = example === undefined ? `\`${key}\`` : `\`${key}: ${example}\``;
  return { message: `\`${key}\` is missing${where}`, expected };
}

function wrongValue(
  issue: z.core.$ZodIssue,
  path: Path,
  value: unknown,
  node: JsonSchema | undefined,
): Fault {
  if (issue.code === "too_small" || issue.code === "too_big") {
    const example = exampleOf(node);
    return { message: issue.message, ...(example === undefined ? {} : { expected: example }) };
  }
  const subject = path.length === 0 ? "a playbook" : `\`${dotted(path)}\``;
  const words = wordsOf(node);
  if (words.length > 0) {
    const guess = typeof value === "string" ? suggest(value, words) : undefined;
    return {
      message: value === null ? `${subject} is empty` : `${subject} can't be ${shown(value)}`,
      expected: words.length === 1 ? String(words[0]) : `one of ${words.join(", ")}`,
      ...(guess === undefined ? {} : { didYouMean: guess }),
    };
  }
  const example = exampleOf(node);
  const isList = node?.type === "array" || Array.isArray(node?.type);
  const noun = isList ? "a list" : "a mapping";
  const single = isList && typeof value === "string" ? `[${value}]` : undefined;
  return {
    message:
      value === null ? `${subject} is empty` : `${subject} must be ${noun}, not ${shown(value)}`,
    expected: example === undefined ? noun : `${noun}, such as ${example}`,
    ...(single === undefined ? {} : { didYouMean: single }),
  };
}

function wordsOf(node: JsonSchema | undefined): string[] {
  const words = node?.const === undefined ? (node?.enum ?? []) : [node.const];
  return words.filter((word) => typeof word === "string");
}

function exampleOf(node: JsonSchema | undefined): string | undefined {
  const example = node?.examples?.[0] ?? node?.const ?? node?.enum?.[0];
  return example === undefined ? undefined : flow(example);
}

/** Formats a value as an author would type it on one line of a playbook. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const pairs = Object.entries(value).map(([key, child]) => `${key}: ${flow(child)}`);
  return `{ ${pairs.join(", ")} }`;
}

function dotted(path: Path): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join("");
}

function schemaAt(root: JsonSchema, path: Path): JsonSchema | undefined {
  let node: JsonSchema | undefined = root;
  for (const step of path) node = typeof step === "number" ? node?.items : node?.properties?.[step];
  return node;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.entries(value).find(([key]) => key === String(step))?.[1];
  }
  return value;
}
