import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import { FakeMachine } from "./fakes.ts";

const RUN = fileURLToPath(new URL("../../.ci/run", import.meta.url));

let machine: FakeMachine;

beforeEach(() => {
  machine = new FakeMachine();
});

afterEach(() => machine.remove());

async function run(): Promise<{ code: number | null; said: string }> {
  const path = [machine.programs, process.env["PATH"]].join(delimiter);
  const child = spawn(RUN, [], { env: { ...machine.env, PATH: path }, cwd: machine.folder });
  const ended = once(child, "exit");
  const said = await text(child.stdout);
  await ended;
  return { code: child.exitCode, said };
}

test("CI runs npm test and the long tests in the checkout, with CI=true, and nothing else", async () => {
  machine.program("npm", 'echo "in $PWD with CI=$CI"\n');
  const { code, said } = await run();
  expect(code).toBe(0);
  expect(said).toBe(`in ${join(RUN, "..", "..")} with CI=true\n`.repeat(2));
  expect(machine.calls()).toEqual(["npm test", "npm run test:long"]);
});

test("CI ends within its 90 minutes: it says until when days may begin", async () => {
  machine.program("npm", 'echo "for $((TESTS_UNTIL - $(date +%s))) s"\n');
  const { said } = await run();
  const until = Number(/^for (\d+) s$/m.exec(said)?.[1]);
  expect(until).toBeGreaterThan(60 * 60);
  expect(until).toBeLessThan(90 * 60);
});

test("a failing CI run keeps its exit code, ends with what failed, and runs nothing after it", async () => {
  machine.program(
    "npm",
    'echo "✓ types (1.0 s)"\necho "✗ lint (2.0 s)"\necho "  × pays a bill once"\nexit 3\n',
  );
  const { code, said } = await run();
  expect(code).toBe(3);
  const [, summary = ""] = said.split("npm test failed with code 3. What failed:");
  expect(summary).toContain("✗ lint (2.0 s)");
  expect(summary).toContain("× pays a bill once");
  expect(summary).not.toContain("types");
  expect(machine.calls()).toEqual(["npm test"]);
});
