import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pageText } from "./docs.ts";

/**
 * Checks an export of the audit trail with the script of docs/audit.md, in a process of its own.
 */
export async function checkTrail(
  exported: string,
  folder: string,
): Promise<{ readonly code: number | null; readonly printed: string }> {
  const [, script = ""] = /```js\n([\s\S]*?)```/.exec(pageText("docs/audit.md")) ?? [];
  const file = join(folder, "check-trail.mjs");
  await writeFile(file, script);
  const process_ = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [process_.stdout, process_.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  // The script may end before it has read everything.
  process_.stdin.on("error", () => undefined).end(exported);
  const [code] = (await once(process_, "close")) as [number | null];
  return { code, printed };
}
