import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Such as an activity and its workflow, and what two databases do each in their way. */
const MOST_TWICE = 10;

const EXPORT =
  /^export (?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) +([\w$]+)/gm;

test("a name is exported by one file, with ten exceptions at most", () => {
  const files = ["src", "activities", "workflows"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(ROOT, folder, path)),
  );
  expect(files.length).toBeGreaterThan(300);
  const exported = files.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(EXPORT)].map(([, name = ""]) => name),
  );
  const twice = [...Map.groupBy(exported, (name) => name)]
    .filter(([, of]) => of.length > 1)
    .map(([name]) => name);
  expect(twice.length > MOST_TWICE ? twice : []).toEqual([]);
});
