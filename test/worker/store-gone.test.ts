import { once } from "node:events";
import { rename } from "node:fs/promises";
import { expect, test } from "vitest";
import { stacks } from "../support/stack.ts";

const start = stacks();

test("a worker whose store file is moved away stops, and says what has happened and what to do", async () => {
  const payrun = await start({ worker: false });
  const worker = await payrun.startWorker();
  let said = "";
  worker.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(worker, "exit");
  const path = payrun.databaseUrl.replace(/^sqlite:/, "");
  await rename(path, `${path}.moved`);
  const [code] = await exited;
  expect(code).toBe(4);
  expect(said).toMatch(/payrun worker: The store .* was deleted or moved away/);
  expect(said).toMatch(/restored backup.*start a gateway and a worker/);
  // So that the stack can be torn down.
  await rename(`${path}.moved`, path);
});
