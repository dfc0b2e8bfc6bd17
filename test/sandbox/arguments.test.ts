import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("../../src/sandbox/main.ts", import.meta.url));

it.each([
  [["--port", "99999", "--data-dir", "x"], "--port must be 0 to 65535"],
  [["--port", "0"], "--data-dir is required"],
  [["--data-dir", "x", "--fixture", "nothing"], "--fixture must be one of"],
  [["--nothing"], "--nothing"],
])("the sandbox exits 2 and says what is wrong with the arguments %j", (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("    at ");
});

it("the sandbox prints its help", () => {
  const { status, stdout } = spawnSync(process.execPath, [program, "--help"], { encoding: "utf8" });
  expect(status).toBe(0);
  expect(stdout).toContain("--data-dir");
});
