import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const child = fileURLToPath(new URL("./children/fingerprints.ts", import.meta.url));

async function fingerprints(...seeds: readonly number[]): Promise<string[]> {
  const args = ["--disable-warning=ExperimentalWarning", child, ...seeds.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().split("\n");
}

/** Whole processes, beside others that compute, may be slow. */
const PATIENCE_MS = 240_000;

test(
  "a seed has the same result, step by step, whatever ran before it in the process",
  async () => {
    const [alone] = await fingerprints(3);
    const [, after] = await fingerprints(24, 3);
    expect(alone).toMatch(/^3 [0-9a-f]{16} \d{3,}$/);
    expect(after).toBe(alone);
  },
  PATIENCE_MS,
);
