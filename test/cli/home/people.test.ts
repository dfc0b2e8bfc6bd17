import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import {
  gatewayOfTokens,
  localAdminPath,
  personPath,
  readLocalAdmin,
  readPerson,
  replaceOwnToken,
} from "../../../src/cli/home/people.ts";
import { removeRunning, writeRunning } from "../../../src/cli/home/running-file.ts";
import { temporaryFolder } from "../cli.ts";

test("--as ignores a name's case, unless two people differ only in it", () => {
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

test("--as can name the local administrator", () => {
  const home = temporaryFolder();
  expect(() => readPerson(home, "local-admin")).toThrow(/has no token of “local-admin”/);
  writeFileSync(localAdminPath(home), "admin\n");
  expect(readPerson(home, "local-admin")).toBe("admin");
  expect(() => readPerson(home, "cora")).toThrow(/it has those of local-admin/);
});

test("a token's new secret replaces the old one wherever the home keeps it, and nowhere else", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "people"));
  writeFileSync(personPath(home, "olga"), "old\n");
  writeFileSync(personPath(home, "cora"), "another\n");
  writeFileSync(localAdminPath(home), "old\n");
  expect(replaceOwnToken({ home, token: "old" }, "new")).toBe(home);
  expect([readPerson(home, "olga"), readPerson(home, "cora")]).toEqual(["new", "another"]);
  expect(readLocalAdmin(home)).toBe("new");
  expect(replaceOwnToken({ home, token: "old" }, "newer")).toBeNull();
});

test("a home's tokens are for the gateway that was last started in it, also if its port moves", () => {
  const home = temporaryFolder();
  expect(gatewayOfTokens(home)).toBeUndefined();
  for (const gateway of ["http://127.0.0.1:8088", "http://127.0.0.1:8090"]) {
    writeRunning(home, { gateway, temporal: "127.0.0.1:7233", sandbox: null });
    expect(gatewayOfTokens(home)).toBe(gateway);
    removeRunning(home);
    expect(gatewayOfTokens(home)).toBe(gateway);
  }
});
