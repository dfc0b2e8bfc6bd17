import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, onTestFinished, test } from "vitest";

import { isLong } from "../support/long.ts";
import { MAIN, payrun, storeOfAnotherVersion, temporaryFolder } from "./cli.ts";
import { stackSettings, untilNoneIsLeft } from "./stack.ts";

/** Runs the demo and sends it Ctrl-C as soon as it has printed certain words. */
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

/** Words at which the demo is cut off; the short form's: a response is lost, bills are held back. */
const CUTS = isLong
  ? ["no real money", "bills to pay", "SIGKILL", "Held back", "Lookup", "Settle", "bounced, "]
  : ["Held back"];

/** Each start takes half a minute on a busy machine. */
const LIMIT_MS = 240_000 * (CUTS.length + 1);

describe("the demo", () => {
  test("the demo starts over, and says so, if another version made the store of the begun one", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const begun = { version: 1, finished: false, startedAt: "2026-01-05T12:00:00Z", runId: "old" };
    mkdirSync(join(home, "demo"), { recursive: true });
    writeFileSync(join(home, "demo", "demo.json"), JSON.stringify(begun));
    storeOfAnotherVersion(join(home, "demo"));

    const { code, stdout } = await demoUntil("no real money", cwd, await stackSettings(home));

    expect(code).toBe(130);
    expect(stdout).toMatch(
      /^Another version of Payrun made the store of the unfinished demo.* starts over\.$/m,
    );
    expect(stdout).not.toContain("Going on with the unfinished demo");
    const state: unknown = JSON.parse(readFileSync(join(home, "demo", "demo.json"), "utf8"));
    expect(state).not.toMatchObject({ runId: "old" });
    await untilNoneIsLeft(home);
  });

  test(
    "a demo that is cut off leaves no process, goes on, and ends with books that agree",
    { timeout: LIMIT_MS },
    async () => {
      const cwd = temporaryFolder();
      const home = join(cwd, "home");
      const env = await stackSettings(home);

      let told = "";
      for (const words of CUTS) {
        const cut = await demoUntil(words, cwd, env);
        expect({ words, code: cut.code, said: cut.stdout.includes(words) }).toEqual({
          words,
          code: 130,
          said: true,
        });
        expect(cut.stdout).toContain("npm start goes on from here");
        await untilNoneIsLeft(home);
        told += cut.stdout;
      }
      const { code, stdout, stderr } = await payrun(["demo", "--once"], { cwd, env });
      told += stdout;
      expect({ code, stderr }).toMatchObject({ code: 0 });

      expect(stdout).toContain("Going on with the unfinished demo");
      expect(told).toContain("bills to pay, $");
      expect(told).toMatch(/launcher approves: 403 /);
      expect(told).toMatch(/a lookup of the bill's payments found pay_\w+ and took it over/);
      expect(told).toMatch(/3 bills, \$[\d,.]+: approved, on hold, not sent\. Release by /);
      expect(told).toMatch(/administrator releases: 403 /);
      expect(told).toMatch(/released: 3 bills +owner, over HTTP/);
      expect(told).toMatch(/parked: R02 /);
      expect(told).toMatch(/3 payments bounced, .*R01 [^]*retry-failed-payment\/sandbox\//);
      expect(told).toMatch(/decided once: balance is released +controller, over HTTP/);

      const report = stdout.slice(stdout.indexOf("Report")).replace(/\s+/g, " ");
      expect(report).toContain("webhooks never arrived, and polling found");
      expect(report).toMatch(/of the killed worker: the bank's moves are one debit, one credit/);
      expect(report).toMatch(
        /3 bills, held back until the owner released them: paid, by their due/,
      );
      expect(report).toMatch(
        /3 bills that bounced: 1 notice, one decision, one retry each; the bank's moves: debit, return, debit, credit ✓/,
      );
      expect(report).toMatch(/✓ \d+ bills, each in one state/);
      const books =
        /Bank ledger: (\d+ bills), (\$[\d,.]+) net\. Payrun: (\d+ bills), (\$[\d,.]+)\. Difference \$0\.00\. Paid twice: 0/.exec(
          stdout,
        );
      expect(books?.slice(1, 3)).toEqual(books?.slice(3, 5));
      expect(books).not.toBeNull();
      await untilNoneIsLeft(home);
      // The demo wrote nothing to the user's own store.
      expect(existsSync(join(home, "payrun.db"))).toBe(false);
    },
  );
});
