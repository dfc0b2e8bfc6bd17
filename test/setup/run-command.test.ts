import { existsSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { runCommand } from "../../scripts/setup/run-command.mjs";

test("a command that runs past its time is ended, and the outcome says so", async () => {
  const forever = ["-e", "setInterval(() => undefined, 1_000)"];
  const outcome = await runCommand(process.execPath, forever, { timeoutMs: 100 });
  expect(outcome).toMatchObject({ ok: false, why: expect.stringMatching(/did not end within/) });
});

test.runIf(existsSync("/proc/self/autogroup"))(
  "a command that gives way does so to processes of other sessions, too",
  async () => {
    // The priority is set right after the start.
    const later =
      "setTimeout(() => console.log(fs.readFileSync('/proc/self/autogroup', 'utf8'), os.getPriority()), 200)";
    const script = `const fs = require("node:fs"), os = require("node:os"); ${later}`;
    const run = (givesWay: boolean) => runCommand(process.execPath, ["-e", script], { givesWay });
    expect((await run(true)).stdout).toMatch(/nice 5\s+5/);
    expect((await run(false)).stdout).toMatch(new RegExp(`nice 0\\s+${getPriority()}\\b`));
  },
);
