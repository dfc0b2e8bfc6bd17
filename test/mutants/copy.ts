import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { z } from "zod";
import { runCommand } from "../../scripts/setup/run-command.mjs";
import { inCheckout } from "../../scripts/setup/set-up.mjs";
import { changed } from "./changes.ts";
import type { Copy } from "./trial.ts";

const REPORT = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      /** Of an error outside the file's tests. */
      message: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});
const LISTED = z.array(z.object({ file: z.string() }));

/**
 * Copies the checkout to a temporary folder, which is deleted with the process. It shares the
 * packages.
 *
 * @param limitMs the longest that tests may take
 */
export function copyOf(files: readonly string[], limitMs: number): Copy {
  const folder = mkdtempSync(join(tmpdir(), "payrun-mutants-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const file of files) cpSync(inCheckout(file), join(folder, file));
  symlinkSync(inCheckout("node_modules"), join(folder, "node_modules"));
  let takeBack = () => {};
  return {
    make: (change) => {
      takeBack();
      takeBack = () => {};
      if (change === undefined) return;
      const file = join(folder, change.file);
      const source = readFileSync(file, "utf8");
      writeFileSync(file, changed(source, change));
      takeBack = () => writeFileSync(file, source);
    },
    runTests: async (tests) => {
      const report = join(folder, "report.json");
      rmSync(report, { force: true });
      const startedAt = performance.now();
      const args = ["--bail=1", "--reporter=json", `--outputFile=${report}`, ...tests];
      const { ok } = await vitest(folder, ["run", "--project=unit", ...args], limitMs);
      if (ok) return { ended: "passed", failed: [] };
      if (performance.now() - startedAt >= limitMs) return { ended: "late", failed: [] };
      return { ended: "failed", failed: failedIn(report, folder) };
    },
    checkTypes: async () => {
      const state = join(folder, "types.tsbuildinfo");
      const args = [inCheckout("node_modules/typescript/bin/tsc"), "--noEmit"];
      const asked = [...args, "--tsBuildInfoFile", state];
      return (await runCommand(process.execPath, asked, { cwd: folder })).ok;
    },
  };
}

/** Returns the files of the tests that need no Temporal server, PostgreSQL or browser. */
export async function unitTests(): Promise<Set<string>> {
  const args = ["list", "--project=unit", "--filesOnly", "--json"];
  const { ok, stdout, why } = await vitest(inCheckout(), args);
  if (!ok) throw new Error(`vitest doesn't list the tests: ${why}`);
  const listed = LISTED.parse(JSON.parse(stdout));
  return new Set(listed.map(({ file }) => relative(inCheckout(), file)));
}

function vitest(cwd: string, args: readonly string[], timeoutMs?: number) {
  const program = inCheckout("node_modules/vitest/vitest.mjs");
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return runCommand(process.execPath, [program, ...args], { cwd, ...limit });
}

/**
 * Returns the test files that failed, without those that the first failure has kept from running;
 * none if the test runner has written no report.
 */
export function failedIn(report: string, folder: string): string[] {
  if (!existsSync(report)) return [];
  return REPORT.parse(JSON.parse(readFileSync(report, "utf8")))
    .testResults.filter(
      ({ message, assertionResults }) =>
        message !== "" || assertionResults.some(({ status }) => status === "failed"),
    )
    .map(({ name }) => relative(folder, name));
}
