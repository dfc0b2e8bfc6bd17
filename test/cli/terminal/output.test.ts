import { WriteStream } from "node:tty";
import { afterEach, expect, test, vi } from "vitest";
import { Output, reportError } from "../../../src/cli/terminal/output.ts";
import { usageError } from "../../../src/cli/terminal/cli-error.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Returns what an error prints on standard error while standard output is a terminal. */
function saidBeside(environment: Readonly<Record<string, string>>, isTTY: boolean): string {
  for (const name of ["NO_COLOR", "FORCE_COLOR", "NODE_DISABLE_COLORS", "CI"]) {
    vi.stubEnv(name, environment[name]);
  }
  vi.stubEnv("TERM", "xterm-256color");
  const as = (stream: NodeJS.WriteStream, terminal: boolean) =>
    Object.assign(Object.create(stream) as NodeJS.WriteStream, {
      isTTY: terminal,
      // Decides by the environment, as a terminal does.
      getColorDepth: () => WriteStream.prototype.getColorDepth.call(stream),
    });
  const [stdout, stderr] = [as(process.stdout, true), as(process.stderr, isTTY)];
  let said = "";
  stderr.write = (text: string | Uint8Array) => {
    said += String(text);
    return true;
  };
  vi.spyOn(process, "stdout", "get").mockReturnValue(stdout as typeof process.stdout);
  vi.spyOn(process, "stderr", "get").mockReturnValue(stderr as typeof process.stderr);
  reportError(usageError("no"), new Output());
  vi.restoreAllMocks();
  return said;
}

test("an error is colored at a terminal, and plain if standard error goes to a file", () => {
  const escape = String.fromCodePoint(27);
  const coloured = `${escape}[31merror:${escape}[39m no\n`;
  expect(saidBeside({}, true)).toBe(coloured);
  expect(saidBeside({}, false)).toBe("error: no\n");
  expect(saidBeside({ NO_COLOR: "1" }, true)).toBe("error: no\n");
  expect(saidBeside({ FORCE_COLOR: "1" }, false)).toBe(coloured);
});
