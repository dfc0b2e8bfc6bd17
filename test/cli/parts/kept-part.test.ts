import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { startKept } from "../../../src/cli/parts/kept-part.ts";
import { type PartPlan, Processes, wholeSentences } from "../../../src/cli/parts/processes.ts";
import { temporaryFolder } from "../cli.ts";

const READY = `process.stdout.write(JSON.stringify({ ready: true }) + "\\n");`;

function plan(script: string): PartPlan {
  return {
    name: "worker",
    command: process.execPath,
    args: ["-e", script],
    env: {},
    layer: 1,
    ready: "line",
  };
}

test("a part that dies is started again, and messages say so and name its log", async () => {
  const folder = temporaryFolder();
  const processes = new Processes(folder);
  onTestFinished(() => processes.stopAll());
  const ended = vi.fn<() => void>();
  processes.onUnexpectedExit(ended);
  const said: string[] = [];
  const part = await startKept(processes, plan(`${READY} setInterval(() => {}, 1000);`), (line) =>
    said.push(line),
  );
  process.kill(part.pid, "SIGKILL");
  await expect.poll(() => said).toHaveLength(2);
  const log = join(folder, "worker.log");
  expect(said).toEqual([
    `the worker has ended (SIGKILL); it is started again in 1 s. Log: ${log}`,
    "the worker runs again",
  ]);
  expect(ended).not.toHaveBeenCalled();
});

test("a part that keeps dying is restarted after longer waits, and not once everything stops", async () => {
  const processes = new Processes(temporaryFolder());
  const said: string[] = [];
  await startKept(processes, plan(`${READY} setTimeout(() => process.exit(3), 50);`), (line) =>
    said.push(line),
  );
  await expect.poll(() => said.join("\n")).toContain("again in 2 s");
  expect(said[0]).toContain("the worker has ended (exit code 3); it is started again in 1 s");
  await processes.stopAll();
  const before = said.length;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(said).toHaveLength(before);
});

test("a part that can't be started at all is an error", async () => {
  const processes = new Processes(temporaryFolder());
  onTestFinished(() => processes.stopAll());
  const starting = startKept(processes, plan("process.exit(2);"), () => undefined);
  await expect(starting).rejects.toMatchObject({ exitCode: 2 });
});

test("the message about a part that ended again quotes its last output in whole sentences", async () => {
  const folder = temporaryFolder();
  const processes = new Processes(folder);
  onTestFinished(() => processes.stopAll());
  const said: string[] = [];
  const last = `error: ${"The file of the store is not the one that was opened. ".repeat(8)}Delete both, and start again.`;
  const once = JSON.stringify(join(folder, "ran"));
  const script = `const fs = require("node:fs");
    if (fs.existsSync(${once})) { console.error(${JSON.stringify(last)}); process.exit(4); }
    fs.writeFileSync(${once}, "");
    ${READY} setTimeout(() => process.exit(3), 50);`;
  await startKept(processes, plan(script), (line) => said.push(line));
  await expect.poll(() => said.length).toBeGreaterThan(1);
  expect(said[1]).toContain(`${last}\n  It is started again in 2 s. Log: `);
});

test("a text that is too long is cut after the last sentence that fits", () => {
  expect(wholeSentences("One is here. Two is here. Three is here.", 30)).toBe(
    "One is here. Two is here.",
  );
  expect(wholeSentences("no end at all", 6)).toBe("no end …");
});
