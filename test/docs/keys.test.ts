import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { PLAYBOOK_KINDS } from "../../src/playbooks/kinds/index.ts";

const PAGES: Readonly<Record<keyof typeof PLAYBOOK_KINDS, string>> = {
  "pay-run": "playbooks.md",
  "retry-failed": "retry-failed.md",
  "kyb-onboarding": "kyb-onboarding.md",
  hold: "hold.md",
  "cancel-scheduled": "cancel-scheduled.md",
};

/** Returns the names of the keys that an author may write, including nested keys. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties, ...others } = schema as { readonly properties?: Record<string, unknown> };
  return [...Object.keys(properties ?? {}), ...[properties ?? {}, others].flatMap(within)];
}

function within(value: object): string[] {
  return Object.values(value).flatMap((each: unknown) =>
    Array.isArray(each) ? each.flatMap(keysOf) : keysOf(each),
  );
}

test.each(Object.entries(PLAYBOOK_KINDS))(
  "each key of a %s playbook is described on its page",
  (kind, of) => {
    const page = readFileSync(
      join(import.meta.dirname, "../../docs", PAGES[kind as keyof typeof PAGES]),
      "utf8",
    );
    const shared = readFileSync(join(import.meta.dirname, "../../docs/playbooks.md"), "utf8");
    const keys = new Set(
      keysOf(z.toJSONSchema(of.schema, { io: "input", unrepresentable: "any" })),
    );
    expect(keys.size).toBeGreaterThan(3);
    const missing = [...keys].filter((key) => !new RegExp(`\\b${key}\\b`).test(page + shared));
    expect(missing).toEqual([]);
  },
);
