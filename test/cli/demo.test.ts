import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, onTestFinished, test } from "vitest";

import { MAIN, payrun, temporaryFolder } from "./cli.ts";
import { stackSettings, untilNoneIsLeft } from "./stack.ts";

/** Runs the demo and sends it Ctrl-C as soon as it has said something. */
function demoUntil(
  words: string,
  cwd: string,
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, [MAIN, "demo"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const before = stdout.includes(words);
    stdout += chunk.toString();
    if (!before && stdout.includes(words)) child.kill("SIGINT");
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, stdout }));
  });
}

describe("the demo", () => {
  test("cut off twice, leaves nothing behind, goes on, and closes with books that agree", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const env = await stackSettings(home);

    const first = await demoUntil("sandbox, no real money", cwd, env);
    expect(first.code).toBe(130);
    await untilNoneIsLeft(home);
    const second = await demoUntil("SIGKILL", cwd, env);
    expect(second.code).toBe(130);
    expect(second.stdout).toContain("bills to pay, $");
    expect(second.stdout).toMatch(/launcher approves: 403 /);
    expect(second.stdout).toContain("npm start goes on from here");
    await untilNoneIsLeft(home);

    const { code, stdout, stderr } = await payrun(["demo", "--once"], { cwd, env });
    expect(stdout).toContain("Going on with the demo");
    expect(stdout).toMatch(/a look-up of the bill's payments found pay_\w+ and took it over/);
    expect(stdout).toMatch(/parked: R02 /);
    expect(stdout).toMatch(/R01 .*\n.*retry-failed-payment\/sandbox\//);
    expect(stdout).toContain("webhooks never arrived, and polling found");
    expect(stdout).toMatch(/of the killed worker: the bank's moves are one debit, one credit/);
    expect(stdout).toMatch(/✓ \d+ bills, each in one state/);
    const books =
      /Bank ledger: (\d+ bills), (\$[\d,.]+) net\. Payrun: (\d+ bills), (\$[\d,.]+)\. Difference \$0\.00\. Paid twice: 0/.exec(
        stdout,
      );
    expect(books?.slice(1, 3)).toEqual(books?.slice(3, 5));
    expect(books).not.toBeNull();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await untilNoneIsLeft(home);
    // Nothing of it is in the user's own store.
    expect(existsSync(join(home, "payrun.db"))).toBe(false);
  });
});
