import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A statement of the query builder, or one in SQL. */
const QUERY =
  /\.(?:selectFrom|selectNoFrom|insertInto|updateTable|deleteFrom)\(|\bsql(?:<[^`]*>)?`/;

/** The sandbox is another program, with its own database. */
const MAY_QUERY = /^src\/(?:store|ledger|sandbox)\//;

function queriesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith(".ts") && QUERY.test(readFileSync(join(root, file), "utf8")));
}

test("only the store and the ledger query the database", () => {
  const found = ["src", "activities", "workflows"].flatMap(queriesIn);
  expect(found.length).toBeGreaterThan(50);
  expect(found.filter((file) => !MAY_QUERY.test(file))).toEqual([]);
});
