import { spawnSync } from "node:child_process";

const prints = (program: string, version: RegExp, flag = "--version") =>
  version.test(spawnSync(program, [flag], { encoding: "utf8" }).stdout ?? "");

/** What pages need besides Payrun; each is looked for when a test asks. */
const PROGRAMS = {
  curl: () => prints("curl", /^curl/),
  bash: () => prints("bash", /^GNU/),
  "OpenSSL 3": () => prints("openssl", /^OpenSSL [3-9]/, "version"),
  "Python 3.9": () => prints("python3", /^Python 3\.(?:9|\d\d)/),
} as const;

/** @returns true if this machine has all of them; says aloud what isn't run otherwise */
export function hasAll(programs: readonly (keyof typeof PROGRAMS)[], what: string): boolean {
  const missing = programs.filter((name) => !PROGRAMS[name]());
  if (missing.length === 0) return true;
  process.stderr.write(`No ${missing.join(", no ")}: ${what} are not run.\n`);
  return false;
}
