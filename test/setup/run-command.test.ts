import { expect, test } from "vitest";
import { runCommand } from "../../scripts/setup/run-command.mjs";

test("a command that runs past its time is ended, and the outcome says so", async () => {
  const forever = ["-e", "setInterval(() => undefined, 1_000)"];
  const outcome = await runCommand(process.execPath, forever, { timeoutMs: 100 });
  expect(outcome).toMatchObject({ ok: false, why: expect.stringMatching(/did not end within/) });
});
