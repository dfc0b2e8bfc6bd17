import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("../../../src/sandbox/bank/main.ts", import.meta.url));
const service = fileURLToPath(new URL("children/dying-service.ts", import.meta.url));

it("the bank ends without an error if the service dies while the bank is answering", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "payrun-bank-"));
  const child = spawn(process.execPath, ["--no-warnings", service, program, dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "--no-warnings" },
  });
  const exited = once(child, "exit");
  // Both streams end when the bank, which shares the second one, has ended too.
  const [pid, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(await exited).toEqual([null, "SIGKILL"]);
  expect(Number(pid)).toBeGreaterThan(0);
  expect(complaints).toBe("");
  await rm(dataDir, { recursive: true, force: true });
});
