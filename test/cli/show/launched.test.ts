import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { RunStatus } from "../../../src/api/runs.ts";
import { joinedBySchedule, launchedLines } from "../../../src/cli/show/launched.ts";

function launched(changes: object, isNew = true) {
  const run = { kind: "pay-run", id: "pay-run/acme/rent/2026-11-26", ...changes } as RunStatus;
  const { lines, exitCode } = launchedLines(run, { isNew, home: "/nowhere" });
  return { text: stripVTControlCharacters(lines.join("\n")), exitCode };
}

test("a launch whose run fails at once prints no tick, says why and exits 1", () => {
  const failure = "No account “bnk_1” is there any more.";
  const { text, exitCode } = launched({ phase: "failed", failure });
  expect(exitCode).toBe(1);
  expect(text).not.toContain("✓");
  expect(text).toContain(`It has failed: ${failure}`);
  expect(text).toContain("payrun show rent/2026-11-26 says why");
});

test("a launch whose bills are all on hold says so, and names the commands to pay them later", () => {
  const plan = { lineCount: 0, skippedByCode: { on_hold: 16, paid: 2 } };
  const { text } = launched({ phase: "completed", plan });
  expect(text).not.toContain("nothing to pay");
  expect(text.replaceAll(/\s+/g, " ")).toMatch(
    /Nothing is paid: 16 bills are on hold \(.*payrun holds\)\. .* payrun pay BILL/,
  );
});

test("a launch without anything to pay says so and exits 0", () => {
  const { text, exitCode } = launched({ phase: "completed", plan: { lineCount: 0 } });
  expect(exitCode).toBe(0);
  expect(text).not.toContain("✓");
  expect(text).toContain("There is nothing to pay.");
  expect(text).toContain("a launch of the same period plans it again");
});

test.each(["awaiting-approval", "completed", "completed-with-exceptions"])(
  "a launch that joins a run in phase %s says how to launch another one",
  (phase) => {
    const another = "a period has one run: --period YYYY-MM-DD launches another";
    const run = { phase, waitingFor: null, plan: { lineCount: 1 } };
    expect(launched(run, false).text).toContain(another);
    expect(launched(run).text).not.toContain(another);
  },
);

test("a launch says that the schedule's next run joins it, if that has the same period", async () => {
  const run = { playbook: "rent", period: "2026-12-03", business: "acme" } as RunStatus;
  const joins = (schedule: object | null, changes: object = {}) => {
    const get = async () => ({ items: schedule === null ? [] : [schedule], problems: [] });
    return joinedBySchedule({ get } as never, { ...run, ...changes });
  };
  const next = [{ period: "2026-12-03", beginsAt: "2026-12-03T14:00:00Z", payDate: "2026-12-04" }];
  expect(await joins({ state: "active", next })).toEqual([
    "The schedule's run of Thu, Dec 3 joins this one.",
  ]);
  expect(await joins({ state: "paused", next })).toEqual([]);
  expect(await joins({ state: "missing", deleted: true, next })).toEqual([]);
  expect(await joins({ state: "active", next: [] })).toEqual([]);
  expect(await joins({ state: "active", next }, { period: "2026-11-27" })).toEqual([]);
  expect(await joins({ state: "active", next }, { phase: "failed" })).toEqual([]);
  expect(await joins({ state: "active", next }, { nothingToPay: true })).toEqual([
    "The schedule's run of Thu, Dec 3 plans it again.",
  ]);
  expect(await joins(null)).toEqual([]);
});
