import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

test("the three example playbooks plan, are approved and pay the sample company's bills", async () => {
  const payrun = await start({ fixture: "sample" });
  let settled = 0;
  // Narrow ones first: a bill belongs to one run.
  for (const name of ["rent-first-of-month", "small-bills-next-day", "weekly-vendors"]) {
    await payrun.sandbox.control.setScale(1);
    const file = new URL(`../../playbooks/${name}.yaml`, import.meta.url);
    await payrun.apply(name, await readFile(file, "utf8"));
    const runId = await payrun.launch(name);
    const planned = await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
    expect(planned.payments.length, name).toBeGreaterThan(0);
    for (const person of ["controller", "owner"] as const) {
      if ((await payrun.status(runId)).phase !== "awaiting-approval") break;
      await payrun.decide(person, runId, "approve");
    }
    await payrun.until(runId, "paid", ({ counts }) => counts["awaiting-approval"] === undefined);
    const done = await untilEnded(payrun, runId);
    expect(done.counts.settled, name).toBeGreaterThan(0);
    settled += done.counts.settled ?? 0;
  }
  expect(settled).toBeGreaterThan(50);
});
