import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Playbook } from "../../src/contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "../../src/playbooks/kinds/index.ts";
import { loadPlaybook, loadPlaybookFile } from "../../src/playbooks/load.ts";
import {
  kindJsonSchema,
  playbookJsonSchema,
  type JsonSchema,
} from "../../src/playbooks/schema-json.ts";

const folder = new URL("../../playbooks/", import.meta.url);
const kinds = Object.keys(PLAYBOOK_KINDS) as Playbook["kind"][];

/** The smallest playbook of each kind. */
const smallest: Readonly<Record<Playbook["kind"], object>> = {
  "pay-run": { kind: "pay-run" },
  "retry-failed": { kind: "retry-failed" },
  "kyb-onboarding": { kind: "kyb-onboarding" },
  hold: { kind: "hold", choose: { run: "weekly-vendors" } },
  "cancel-scheduled": { kind: "cancel-scheduled", choose: { run: "weekly-vendors" } },
};
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

describe("the examples", () => {
  test.each(files)("the example %s loads, and points editors to the schema", async (name) => {
    const result = await loadPlaybookFile(fileURLToPath(new URL(name, folder)));
    expect(result).toMatchObject({ ok: true, playbook: { name: name.replace(".yaml", "") } });
    if (!result.ok) return;
    expect(result.text).toMatch(/^# yaml-language-server: \$schema=\.\/playbook\.schema\.json\n/);
  });

  test("the examples show every kind, and one is the demo's playbook", async () => {
    const loaded = files.map((name) => loadPlaybookFile(fileURLToPath(new URL(name, folder))));
    const shown = (await Promise.all(loaded)).flatMap((each) =>
      each.ok ? [each.playbook.kind] : [],
    );
    expect(new Set(shown)).toEqual(new Set(kinds));
    expect(files).toContain("weekly-vendors.yaml");
  });
});

describe("the JSON Schema for editors", () => {
  test("the JSON Schema beside the examples is up to date", () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL("playbook.schema.json", folder), "utf8"),
    );
    // If this fails, run: npx payrun schema > playbooks/playbook.schema.json
    expect(committed).toEqual(JSON.parse(JSON.stringify(playbookJsonSchema())));
  });

  test.each(kinds)(
    "the schema of %s describes every key, offers completions, and allows no other keys",
    (kind) => {
      const schema = kindJsonSchema(kind);
      const keys = keysBelow(schema, "");
      expect(keys.length).toBeGreaterThan(5);
      const without = (keyword: string): string[] =>
        keys.filter(({ node }) => node[keyword] === undefined).map(({ path }) => path);
      expect(without("description")).toEqual([]);
      const bare = keys.filter(
        ({ node }) => !["examples", "enum", "const", "minimum"].some((word) => word in node),
      );
      expect(bare).toEqual([]);
      const open = keys.filter(
        ({ node }) => node.properties !== undefined && node["additionalProperties"] !== false,
      );
      expect(open).toEqual([]);
      expect(schema["additionalProperties"]).toBe(false);
    },
  );

  test.each(kinds)("the schema of %s gives examples and defaults that load", (kind) => {
    const refused = Object.entries(kindJsonSchema(kind).properties ?? {})
      .flatMap(([key, node]) =>
        [...(node.examples ?? []), ...("default" in node ? [node["default"]] : [])].map((value) =>
          JSON.stringify({ ...smallest[kind], [key]: value }),
        ),
      )
      .filter((text) => !loadPlaybook(text, { file: "a.yaml" }).ok);
    expect(refused).toEqual([]);
  });

  test("the schema lets `kind` decide which keys are allowed", () => {
    const schema = playbookJsonSchema();
    expect(schema.properties?.["kind"]?.enum).toEqual(kinds);
    expect(schema["oneOf"]).toHaveLength(kinds.length);
  });
});

function keysBelow(node: JsonSchema, path: string): { path: string; node: JsonSchema }[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    { path: `${path}.${key}`, node: child },
    ...keysBelow(child.items ?? child, `${path}.${key}`),
  ]);
}
