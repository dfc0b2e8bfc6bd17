import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SANDBOXES } from "./sandbox.ts";

/** Where the sandboxes of a test run keep their data, so that none leaves anything behind. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[SANDBOXES] !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "payrun-sandboxes-"));
  process.env[SANDBOXES] = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
