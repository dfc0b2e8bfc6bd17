import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { machineEnv } from "../support/machine-env.ts";

const MODULE = new URL("../../scripts/setup/compile-cache.mjs", import.meta.url).href;

function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-compiled-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a process that starts another one, and returns what the second one prints. */
function twoProcesses(root: string): string {
  writeFileSync(join(root, "part.ts"), `const said: string = "started"; console.log(said);`);
  const script = `
    import { spawnSync } from "node:child_process";
    import { keepCompiledCode } from ${JSON.stringify(MODULE)};
    keepCompiledCode(${JSON.stringify(join(root, "node_modules/.cache"))});
    spawnSync(process.execPath, ["part.ts"], { stdio: "inherit" });`;
  const { NODE_COMPILE_CACHE: _, ...env } = machineEnv();
  const args = ["--input-type=module", "-e", script];
  return spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" }).stdout.trim();
}

test("compiled code is kept in the checkout, including that of child processes", () => {
  const root = checkout();
  expect(twoProcesses(root)).toBe("started");
  expect(readdirSync(join(root, "node_modules/.cache/compiled"))).not.toEqual([]);
});

test("if compiled code can't be kept, processes start without it", () => {
  const root = checkout();
  writeFileSync(join(root, "node_modules"), "not a folder");
  expect(twoProcesses(root)).toBe("started");
});
