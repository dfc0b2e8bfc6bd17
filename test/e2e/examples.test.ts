import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

function fileOf(playbook: string): URL {
  return new URL(`../../playbooks/${playbook}.yaml`, import.meta.url);
}

/**
 * Releases the account after three of the sample's payments bounced: one decision for all of them.
 */
async function accountIsReleased(payrun: TestPayrun, bills: number): Promise<void> {
  await payrun.sandbox.control.setScale(43_200);
  const waiting = async () => {
    const { body } = await payrun.call<{ items: { bills: number }[] }>(
      "controller",
      "GET",
      "/v1/incidents",
    );
    return body.items.map((incident) => incident.bills);
  };
  await expect.poll(waiting).toEqual([bills]);
  const said = { decision: "released", reason: "the bank shows the money" };
  const path = "/v1/incidents/balance/decision";
  expect((await payrun.call("controller", "POST", path, said)).status).toBe(200);
}

test.runIf(isLong)(
  "the three example playbooks plan, are approved and pay the sample company's bills",
  async () => {
    const payrun = await start({ fixture: "sample" });
    let settled = 0;
    await payrun.apply("retry-failed", await readFile(fileOf("retry-failed"), "utf8"));
    // The narrow playbooks come first, because a bill belongs to one run.
    for (const name of ["rent-first-of-month", "small-bills-next-day", "weekly-vendors"]) {
      await payrun.sandbox.control.setScale(1);
      await payrun.apply(name, await readFile(fileOf(name), "utf8"));
      const runId = await payrun.launch(name);
      const planned = await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
      expect(planned.payments.length, name).toBeGreaterThan(0);
      for (const person of ["controller", "owner"] as const) {
        if ((await payrun.status(runId)).phase !== "awaiting-approval") break;
        await payrun.decide(person, runId, "approve");
      }
      await payrun.until(runId, "paid", ({ counts }) => counts["awaiting-approval"] === undefined);
      if (name === "weekly-vendors") await accountIsReleased(payrun, 3);
      const done = await untilEnded(payrun, runId);
      expect(done.counts.settled, name).toBeGreaterThan(0);
      settled += done.counts.settled ?? 0;
    }
    expect(settled).toBeGreaterThan(50);
  },
);
