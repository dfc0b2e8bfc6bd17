import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { expect, inject, onTestFinished, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { openStore } from "../../src/store/open.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { compareSchedules } from "../../src/janitor/schedules.ts";
import { executionOf, runningWorkflows } from "../../src/janitor/executions.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import type { JanitorContext } from "../../src/janitor/context.ts";
import { lazyConnection } from "../../src/temporal/connection.ts";
import { takeNamespace } from "../support/take-namespace.ts";

const HOUR_MS = 3_600_000;

/** A store, a namespace of its own and a janitor's context. */
async function scene() {
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
  return { store, temporal, profile, context };
}

test("a lost schedule wakes its launcher for runs missed within catchUp, but none from before its playbook", async () => {
  const { store, temporal, profile, context } = await scene();
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

test("what is done to a schedule in Temporal itself is noticed within a pass: a change is undone, a pause stays, and operators hear of each once", async () => {
  const { store, temporal, profile, context } = await scene();
  const text = 'kind: pay-run\nschedule: { every: day, at: "03:00", zone: UTC }\n';
  await storePlaybook(store, { name: "weekly", text }, Date.now() - 20_000);
  await compareSchedules(context, profile);
  const handle = temporal.schedule.getHandle("scheduled-pay-run/acme/weekly");
  onTestFinished(() => handle.delete().catch(() => undefined));
  const told = async () => {
    const notices = await listNotices(store.db, { kind: "schedule-changed", limit: 99 });
    return notices.map(({ data }) => data["change"]).toReversed();
  };
  expect(await told()).toEqual(["lost"]);
  const hours = async () => (await handle.describe()).spec.calendars?.map(({ hour }) => hour);
  const before = await hours();
  await handle.update(({ raw: _, ...kept }) => ({
    ...kept,
    action: { ...kept.action, args: ["mallory"] },
    spec: { calendars: [{ hour: 4 }] },
  }));
  await expect
    .poll(async () => {
      await compareSchedules(context, profile);
      return hours();
    })
    .toEqual(before);
  await handle.pause("mallory");
  await expect
    .poll(async () => {
      await compareSchedules(context, profile);
      return (await told()).at(-1);
    })
    .toBe("paused");
  expect((await handle.describe()).state.paused).toBe(true);
  await handle.delete();
  await expect
    .poll(async () => {
      await compareSchedules(context, profile);
      return (await told()).at(-1);
    })
    .toBe("lost");
  expect((await handle.describe()).state.paused).toBe(true);
  await compareSchedules(context, profile);
  expect(await told()).toEqual(["lost", "changed", "paused", "lost"]);
});

test("a workflow whose memo can't be decoded hides no other from the janitor", async () => {
  const { temporal } = await scene();
  const { workflowService: service, options } = temporal;
  const types = [
    ["pay-run/acme/weekly/2026-01-01", "binary/nothing"],
    ["pay-run/acme/weekly/2026-01-02", "json/plain"],
  ] as const;
  for (const [workflowId, encoding] of types) {
    await service.startWorkflowExecution({
      ...{ namespace: options.namespace, workflowId, requestId: workflowId },
      ...{ workflowType: { name: "payRun" }, taskQueue: { name: "payrun" } },
      memo: {
        fields: {
          text: { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from("{") },
        },
      },
    });
    onTestFinished(async () => {
      await temporal.workflow.getHandle(workflowId).terminate();
    });
  }
  const ids = types.map(([workflowId]) => workflowId);
  await expect.poll(async () => [...(await runningWorkflows(temporal))].toSorted()).toEqual(ids);
  for (const id of ids) {
    expect(await executionOf(temporal, id)).toMatchObject({ kind: "running", type: "payRun" });
  }
});
