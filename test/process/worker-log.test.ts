import { expect, test } from "vitest";
import { runtimeLogger } from "../../src/worker/runtime.ts";

test("the worker's log shows a failed step with its workflow, its name and the error's message, but nothing else of the SDK", () => {
  const lines: [string, unknown][] = [];
  const write = (message: string, fields?: unknown) => void lines.push([message, fields]);
  const logger = runtimeLogger({ info: write, warn: write });
  const about = {
    workflowId: "pay-run/acme/weekly/2026-11-26",
    activityType: "planRun",
    attempt: 3,
  };
  const error = Object.assign(new Error("no profile has this business"), { body: "secret" });
  logger.warn("Activity failed", { ...about, runId: "0199", error, args: ["secret"] });
  logger.info("Worker state changed", about);
  expect(lines).toEqual([
    ["Activity failed", { ...about, reason: "no profile has this business" }],
  ]);
});

test("a queue for activities only causes no warning about workflows in the worker's log", () => {
  const lines: string[] = [];
  const write = (message: string) => void lines.push(message);
  const logger = runtimeLogger({ info: write, warn: write });
  logger.warn("No workflows registered, not polling for workflow tasks", { taskQueue: "q" });
  logger.warn("No activities registered, not polling for activity tasks", { taskQueue: "q" });
  expect(lines).toEqual(["No activities registered, not polling for activity tasks"]);
});
