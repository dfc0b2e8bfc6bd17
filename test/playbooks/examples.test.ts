import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { PayRunPlaybook, Playbook } from "../../src/contracts/playbook.ts";
import { ruleFor } from "../../src/domain/approvals/rules.ts";
import { isInReview } from "../../src/domain/planning/flagged.ts";
import type { ConditionView } from "../../src/domain/planning/condition-view.ts";
import { evaluateCondition } from "../../src/playbooks/conditions.ts";
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

const BILL: ConditionView = {
  id: "pay_1",
  publicId: "B-1001",
  description: "Office rent, March",
  customNumber: null,
  amountCents: 0,
  totalAmountCents: 0,
  amountPaidCents: 0,
  dueDate: "2026-03-01",
  issueDate: null,
  status: "approved",
  paymentStatus: "none",
  vendor: {
    id: "con_1",
    name: "Hill Properties",
    type: "payee",
    netTerms: null,
    bankLast4: "6789",
  },
  flags: [],
};

describe("the examples", () => {
  test.each(files)(
    "the example %s loads without a warning, and points editors to the schema",
    async (name) => {
      const result = await loadPlaybookFile(fileURLToPath(new URL(name, folder)));
      expect(result).toMatchObject({ ok: true, playbook: { name: name.replace(".yaml", "") } });
      if (!result.ok) return;
      expect(result.warnings).toEqual([]);
      expect(result.text).toMatch(/^# yaml-language-server: \$schema=\.\/playbook\.schema\.json\n/);
    },
  );

  test.each(files)("no flag makes a bill easier to approve in the example %s", async (name) => {
    const result = await loadPlaybookFile(fileURLToPath(new URL(name, folder)));
    if (!result.ok || result.playbook.kind !== "pay-run") return;
    const { playbook } = result;
    const kinds = ["rejected-before", ...playbook.review];
    const easier = [10_000, 3_000_000, 15_000_000].flatMap((cents) =>
      kinds.flatMap((kind) =>
        [[], ...kinds.map((each) => [each])].flatMap((before) => {
          const needed = groupsThatMay(playbook, cents, before);
          const enough = groupsThatMay(playbook, cents, [...before, kind]);
          const alone = enough.filter((group) => !needed.includes(group));
          return alone.map((group) => `${cents} ${before.join()} and ${kind}: ${group}`);
        }),
      ),
    );
    expect(easier).toEqual([]);
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

/** Returns the groups of people who may approve a bill with these flags. */
function groupsThatMay(playbook: PayRunPlaybook, cents: number, flags: string[]): string[] {
  const inReview = isInReview(
    flags.map((kind) => ({ kind })),
    playbook,
  );
  const bill = { ...BILL, amountCents: cents, totalAmountCents: cents, flags };
  const { rule } = ruleFor({ billCents: cents, inReview }, playbook.approve, (condition) =>
    evaluateCondition(condition, bill),
  );
  const groups = [0, 1, 2].flatMap((controller) =>
    [0, 1, 2].map((owner): Record<string, number> => ({ controller, owner })),
  );
  return groups
    .filter((group) =>
      (rule.stages ?? [rule]).every(
        ({ by, quorum }) => by.reduce((sum, role) => sum + (group[role] ?? 0), 0) >= quorum,
      ),
    )
    .map((group) => JSON.stringify(group));
}

function keysBelow(node: JsonSchema, path: string): { path: string; node: JsonSchema }[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    { path: `${path}.${key}`, node: child },
    ...keysBelow(child.items ?? child, `${path}.${key}`),
  ]);
}
