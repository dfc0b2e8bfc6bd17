import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import { machineEnv } from "../support/machine-env.ts";
import { MAIN, temporaryFolder } from "./cli.ts";

/** The program that runs a command at a terminal, if it is installed. */
const SCRIPT = "/usr/bin/script";

/** True if commands can be run at a terminal. */
export const hasTerminals: boolean = existsSync(SCRIPT);

/** Runs a command at its own terminal and types each answer once its question appears. */
export async function atTerminal(
  args: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
  { env = {}, cwd = temporaryFolder() }: { readonly env?: object; readonly cwd?: string } = {},
): Promise<string> {
  const command = [process.execPath, MAIN, ...args].map((part) => `'${part}'`).join(" ");
  const child = spawn(SCRIPT, ["-qfec", `stty cols 120 rows 40; ${command}`, "/dev/null"], {
    cwd,
    timeout: 25_000,
    env: { ...machineEnv(), PAYRUN_HOME: cwd, NO_COLOR: "1", ...env },
  });
  let said = "";
  const left = [...answers];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const [next] = left;
    if (next === undefined || !said.includes(next[0])) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  await once(child, "close");
  expect(left, said).toEqual([]);
  return stripVTControlCharacters(said);
}
