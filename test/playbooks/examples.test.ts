import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { loadPlaybook, loadPlaybookFile } from "../../src/playbooks/load.ts";
import { playbookJsonSchema, type JsonSchema } from "../../src/playbooks/schema-json.ts";

const folder = new URL("../../playbooks/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

describe("the examples", () => {
  test.each(files)("%s loads, and points editors at the schema", async (name) => {
    const result = await loadPlaybookFile(fileURLToPath(new URL(name, folder)));
    expect(result).toMatchObject({ ok: true, playbook: { name: name.replace(".yaml", "") } });
    if (!result.ok) return;
    expect(result.text).toMatch(/^# yaml-language-server: \$schema=\.\/playbook\.schema\.json\n/);
  });

  test("are three, one of them the demo's", () => {
    expect(files).toHaveLength(3);
    expect(files).toContain("weekly-vendors.yaml");
  });
});

describe("the JSON Schema for editors", () => {
  test("is the one beside the examples", () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL("playbook.schema.json", folder), "utf8"),
    );
    // Where this fails: npx payrun schema > playbooks/playbook.schema.json
    expect(committed).toEqual(JSON.parse(JSON.stringify(playbookJsonSchema())));
  });

  test("describes every key, with something to complete, and refuses every other", () => {
    const keys = keysBelow(playbookJsonSchema(), "");
    expect(keys.length).toBeGreaterThan(25);
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
    expect(playbookJsonSchema()["additionalProperties"]).toBe(false);
  });

  test("gives examples and defaults that load", () => {
    const refused = Object.entries(playbookJsonSchema().properties ?? {})
      .flatMap(([key, node]) =>
        [...(node.examples ?? []), ...("default" in node ? [node["default"]] : [])].map((value) =>
          JSON.stringify({ kind: "pay-run", [key]: value }),
        ),
      )
      .filter((text) => !loadPlaybook(text, { file: "a.yaml" }).ok);
    expect(refused).toEqual([]);
  });
});

function keysBelow(node: JsonSchema, path: string): { path: string; node: JsonSchema }[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    { path: `${path}.${key}`, node: child },
    ...keysBelow(child.items ?? child, `${path}.${key}`),
  ]);
}
