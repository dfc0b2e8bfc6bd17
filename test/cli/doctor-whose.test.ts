import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAnybodys } from "../../src/cli/commands/doctor-whose.ts";
import { loadConfig } from "../../src/config.ts";
import { temporaryFolder } from "./cli.ts";

const inEmptyFolder = () => ({ PAYRUN_HOME: join(temporaryFolder(), "home") });

test("in an empty folder a server on a default port may belong to anybody", () => {
  expect(isAnybodys(loadConfig({ ...inEmptyFolder(), TEMPORAL_CLI: "temporal" }))).toBe(true);
});

test.each([
  ["a gateway that is named", { PAYRUN_GATEWAY_URL: "http://127.0.0.1:8088" }],
  ["a Temporal server that is named", { TEMPORAL_ADDRESS: "127.0.0.1:7233" }],
  ["a token", { PAYRUN_TOKEN: "prt_mine" }],
])("%s shows that the server that answers is meant", (_, setting: Record<string, string>) => {
  expect(isAnybodys(loadConfig({ ...inEmptyFolder(), ...setting }))).toBe(false);
});

test("a home of Payrun shows that the server that answers is meant", () => {
  const env = inEmptyFolder();
  mkdirSync(env.PAYRUN_HOME);
  expect(isAnybodys(loadConfig(env))).toBe(false);
});
