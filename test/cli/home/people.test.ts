import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { personPath, readPerson } from "../../../src/cli/home/people.ts";
import { temporaryFolder } from "../cli.ts";

test("--as finds a person whose name is typed in another case, and asks where two differ only in it", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "people"));
  const keep = (name: string) => writeFileSync(personPath(home, name), `token of ${name}\n`);
  keep("Olga Owner");
  expect(readPerson(home, "olga owner")).toBe("token of Olga Owner");
  expect(() => readPerson(home, "olga ower")).toThrow(/did you mean Olga Owner\?/);
  keep("OLGA owner");
  expect(readPerson(home, "Olga Owner")).toBe("token of Olga Owner");
  expect(() => readPerson(home, "olga owner")).toThrow(/it has those of OLGA owner, Olga Owner/);
});
