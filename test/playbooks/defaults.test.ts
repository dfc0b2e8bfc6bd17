import { describe, expect, test } from "vitest";
import type { Playbook } from "../../src/contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "../../src/playbooks/kinds/index.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { type JsonSchema, kindJsonSchema } from "../../src/playbooks/schema-json.ts";

type Kind = Playbook["kind"];
type Mapping = Readonly<Record<string, unknown>>;

const kinds = Object.keys(PLAYBOOK_KINDS) as Kind[];

/** What a playbook must say besides its kind. */
const REQUIRED: Partial<Record<Kind, Mapping>> = {
  hold: { choose: { run: "weekly-vendors" } },
  "cancel-scheduled": { choose: { run: "weekly-vendors" } },
};

/** The smallest playbook with one of the mappings that a playbook needn't have, and its keys. */
const WITHIN: Partial<Record<Kind, Readonly<Record<string, (keys: Mapping) => Mapping>>>> = {
  "pay-run": {
    schedule: (keys) => ({ schedule: { every: "thursday", ...keys } }),
    "pay.topUp": (keys) => ({
      pay: { from: "balance", topUp: { by: ["owner"], atMost: "$50k", ...keys } },
    }),
    "approve[]": (keys) => ({ approve: [{ by: ["controller"], ...keys }] }),
    "approve[].over": (keys) => ({
      approve: [{ over: { amount: "$25k", ...keys }, by: ["owner"] }, { by: ["controller"] }],
    }),
    "approve[].stages[]": (keys) => ({ approve: [{ stages: [{ by: ["controller"], ...keys }] }] }),
  },
  "retry-failed": {
    "rules[]": (keys) => ({ rules: [{ match: ["R01"], retry: "next-business-day", ...keys }] }),
  },
};

interface Key {
  readonly kind: Kind;
  /** Where the key is: empty at the top, otherwise dotted, with `[]` after a list. */
  readonly mapping: string;
  readonly key: string;
  /** Both together. */
  readonly path: string;
  readonly node: JsonSchema;
}

function keysBelow(kind: Kind, node: JsonSchema, mapping = ""): Key[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]): Key[] => {
    const path = `${mapping === "" ? "" : `${mapping}.`}${key}`;
    const below = child.items === undefined ? path : `${path}[]`;
    return [
      { kind, mapping, key, path, node: child },
      ...keysBelow(kind, child.items ?? child, below),
    ];
  });
}

/** Returns the smallest playbooks with these keys in a mapping; without keys, also one without it. */
function smallest({ kind, mapping }: Key, keys: Mapping): Mapping[] {
  const within = WITHIN[kind]?.[mapping];
  if (within !== undefined) return [within(keys)];
  if (mapping === "") return [keys];
  return [{ [mapping]: keys }, ...(Object.keys(keys).length === 0 ? [{}] : [])];
}

function compiled(kind: Kind, keys: Mapping): Playbook {
  const text = JSON.stringify({ kind, ...REQUIRED[kind], ...keys });
  const loaded = loadPlaybook(text, { file: "it.yaml" });
  if (!loaded.ok) throw new Error(`${text}: ${JSON.stringify(loaded.problems)}`);
  return loaded.playbook;
}

describe.each(kinds)("%s", (kind) => {
  const documented = keysBelow(kind, kindJsonSchema(kind)).filter(({ node }) => "default" in node);

  test("every kind of playbook has keys with a documented default", () => {
    expect(documented).not.toEqual([]);
  });

  test.each(documented)(
    "without `$path` a playbook means what it means with the documented default",
    (one) => {
      const [written, ...others] = smallest(one, { [one.key]: one.node["default"] });
      expect(others).toEqual([]);
      const meant = compiled(kind, written ?? {});
      for (const without of smallest(one, {})) expect(compiled(kind, without)).toEqual(meant);
    },
  );

  test("no description says again what the default is", () => {
    const twice = documented.filter(({ node }) => /\bDefault:/.test(String(node["description"])));
    expect(twice.map(({ path }) => path)).toEqual([]);
  });
});
