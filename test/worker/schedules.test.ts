import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { expect, inject, onTestFinished, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { openStore } from "../../src/store/index.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { compareSchedules } from "../../src/janitor/schedules.ts";
import type { JanitorContext } from "../../src/janitor/context.ts";
import { lazyConnection } from "../../src/temporal/connection.ts";
import { takeNamespace } from "../support/take-namespace.ts";

const HOUR_MS = 3_600_000;

test("a lost schedule wakes its launcher for runs missed within catchUp, but none from before its playbook", async () => {
  const folder = await mkdtemp(join(tmpdir(), "payrun-schedules-"));
  const store = await openStore(`sqlite:${join(folder, "payrun.db")}`);
  const connection = lazyConnection({ address: inject("temporalAddress") });
  onTestFinished(async () => {
    await connection.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const temporal = new Client({ connection, namespace: takeNamespace() });
  const profile = { name: "acme", businessId: "biz_1", sandbox: false } as BusinessProfile;
  const log = { info: () => undefined, warn: () => undefined };
  const nobody = (): never => {
    throw new Error("the service is not asked");
  };
  const context: JanitorContext = {
    store,
    temporal,
    log,
    profiles: { all: () => [profile] },
    clientOf: nobody,
    clockOf: nobody,
  };
  const hour = String(new Date(Date.now() - 2 * HOUR_MS).getUTCHours()).padStart(2, "0");
  const text = `kind: pay-run\nschedule: { every: day, at: "${hour}:00", zone: UTC, catchUp: 3 days }\n`;
  // For one playbook three times lie within catchUp; the other playbook is younger than all but
  // one.
  for (const [name, ageHours] of [
    ["old", 24 * 30],
    ["young", 20],
  ] as const) {
    await storePlaybook(store, { name, text }, Date.now() - ageHours * HOUR_MS);
  }
  await compareSchedules(context, profile);
  const woken = async (): Promise<number[]> => {
    const ids: string[] = [];
    const query = "WorkflowType = 'scheduledPayRun'";
    for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
    return ["old", "young"].map((name) => ids.filter((id) => id.includes(`/${name}-`)).length);
  };
  await expect.poll(woken).toEqual([3, 1]);
  // An existing schedule is left alone.
  await compareSchedules(context, profile);
  await expect.poll(woken).toEqual([3, 1]);
  for (const name of ["old", "young"]) {
    await temporal.schedule.getHandle(`scheduled-pay-run/acme/${name}`).delete();
  }
});
