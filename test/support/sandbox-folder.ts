import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SANDBOXES } from "./sandbox.ts";

/**
 * Creates the folder in which the sandboxes of a test run keep their data, and removes it at the
 * end.
 */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[SANDBOXES] !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "payrun-sandboxes-"));
  process.env[SANDBOXES] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
