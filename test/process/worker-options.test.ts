import { expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { readOptions } from "../../src/worker/options.ts";

test("a worker without options serves every queue", () => {
  expect(readOptions([]).serve).toEqual(["steps", "money", "retries", "reading"]);
});

test.each([
  [["--serve", "mony"], /--serve mony: there is no such queue.*Did you mean “money”\?/],
  [["--serve", "money", "--serve", "everything"], /--serve everything: there is no such queue/],
  [["--sevre", "money"], /--sevre/],
])("a worker with the options %j refuses to start, and says why", (args, why) => {
  expect(() => readOptions(args)).toThrow(ConfigError);
  expect(() => readOptions(args)).toThrow(why);
});
