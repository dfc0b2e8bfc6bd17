import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { runCli } from "../../../src/cli/program.ts";

export interface Typed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The one document on standard output. */
  readonly json: <T>() => T;
}

/**
 * Runs a command line against a gateway in this process, off a terminal. A process of its own would
 * take a second to begin.
 */
export async function typed(
  gateway: { readonly url: string },
  token: string,
  args: readonly string[],
): Promise<Typed> {
  const home = mkdtempSync(join(tmpdir(), "payrun-typed-"));
  vi.stubEnv("PAYRUN_HOME", home);
  vi.stubEnv("PAYRUN_GATEWAY_URL", gateway.url);
  vi.stubEnv("PAYRUN_TOKEN", token);
  vi.stubEnv("NO_COLOR", "1");
  const said = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    const code = await runCli(args);
    return { ...said, code, json: <T>() => JSON.parse(said.stdout) as T };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Types a command as a person with these roles. */
export async function typedBy(
  gateway: { readonly url: string; token(name: string, roles: readonly string[]): Promise<string> },
  { name, roles }: { readonly name: string; readonly roles: readonly string[] },
  args: readonly string[],
): Promise<Typed> {
  return typed(gateway, await gateway.token(name, roles), args);
}
