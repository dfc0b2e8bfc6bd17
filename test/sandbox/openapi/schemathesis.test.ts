import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { findSchemathesis } from "../../../scripts/setup/schemathesis.mjs";
import { makeIds } from "../http/registry.ts";
import { isLong } from "../../support/long.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";

const longMs = 45 * 60_000;
const shortMs = 4 * 60_000;

/** The short form ends after 15 seconds, however far it has got. */
const effort = isLong
  ? ["--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "25"]
  : ["--phases", "examples,fuzzing", "--max-examples", "4", "--max-time", "15"];

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "ignored_auth",
];

const it = sharedSandboxTest().extend("folder", async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), "payrun-schemathesis-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
});

interface Finished {
  code: number | null;
  output: string;
}

function run(
  folder: string,
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<Finished> {
  // Schemathesis runs in its own folder, where it keeps its examples.
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const timer = setTimeout(() => child.kill("SIGKILL"), isLong ? longMs : shortMs);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(chunks).toString() });
    });
  });
}

it(
  "the sandbox answers Schemathesis's requests as the API's document promises",
  { timeout: (isLong ? longMs : shortMs) + 10_000 },
  async ({ folder, sandbox, skip }) => {
    const program = findSchemathesis(process.env);
    if (program === undefined) return skip("there is no Schemathesis: npm test sets it up");
    const token = await sandbox.control.token(undefined, { expiresInSeconds: 100_000 });
    const args = [
      "run",
      `${sandbox.url}/openapi.json`,
      "--header",
      `Authorization: Bearer ${token}`,
    ];
    // The control API breaks the service on purpose.
    args.push("--exclude-path-regex", "^/sandbox/");
    args.push("--checks", checks.join(","), "--seed", "1", "--workers", "2", ...effort);
    args.push("--no-color", "--suppress-health-check", "all", "--warnings", "off");
    const { code, output } = await run(folder, program, args, {
      PYTHONPATH: fileURLToPath(new URL(".", import.meta.url)),
      PYTHONDONTWRITEBYTECODE: "1",
      SCHEMATHESIS_HOOKS: "schemathesis_hooks",
      SANDBOX_IDS: JSON.stringify(await makeIds(sandbox)),
    });
    expect(code, output).toBe(0);
    expect(output).toMatch(/\d+ generated, \d+ passed/);
    if (isLong) process.stdout.write(output);
  },
);
