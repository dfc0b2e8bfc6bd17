import { expect } from "vitest";
import {
  cancelScheduledPaymentsId,
  fundingIncidentId,
  retryFailedPaymentId,
} from "../../src/contracts/workflow-kinds.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { launchedByEvents } from "../../src/domain/events/triggers.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { insertItem } from "../../src/store/cancellations/cancellation-items.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { upsertRun } from "../../src/store/runs/runs.ts";
import { payrun } from "../cli/cli.ts";
import { sharedGatewayTest } from "../gateway/support/gateway-test.ts";
import { newRun } from "../store/fixtures.ts";
import type { Answer, TestGateway } from "../gateway/support/gateway.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";

const OWN = { businessId: "biz_acme", business: "acme" };
const INCIDENT = fundingIncidentId("acme", "bank_1");
const RETRY = retryFailedPaymentId("acme", "bounced");
const CANCELLATION = cancelScheduledPaymentsId("acme", "abc");

const HELD_BACK = {
  ...{ itemNo: 0, businessId: "biz_acme", paymentId: null, payableId: "other", contactId: null },
  ...{ amountCents: 4_200, state: "withheld" as const, reason: null, holdId: null },
  ...{ releaseByMs: null, cancelledAtMs: null, goesOutAtMs: null, notBeforeMs: 0, pollAtMs: 0 },
};

let runId: string;

const test = sharedGatewayTest().extend("viewer", { scope: "file" }, ({ gateway }) =>
  gateway.token("v", ["viewer"]),
);
test.beforeAll(async ({ gateway }) => {
  const line = planLine("bounced", { amountCents: 12_300 });
  ({ runId } = await seedRun(gateway.store, { lines: [line, planLine("waiting")] }));
  await seedCancellations(gateway);
  await seedFailures(gateway);
  await upsertRun(
    gateway.store.db,
    newRun({ ...OWN, playbook: "idle", launchedBy: launchedByEvents("idle") }),
  );
  await gateway.store.db
    .updateTable("runs")
    .set({ phase: "completed" })
    .where("playbook", "=", "idle")
    .execute();
});

async function seedCancellations(gateway: TestGateway): Promise<void> {
  const { db } = gateway.store;
  const asked = {
    ...OWN,
    policy: cancelOfPayments([]),
    runId: null,
    reason: "wrong",
    nowMs: 2_000,
  };
  await gateway.store.transaction((trx) =>
    insertCancellation(trx, {
      ...asked,
      workflowId: CANCELLATION,
      // It holds back bills of a run, which wait for the people who may release them.
      runId,
      playbook: "",
      requestedBy: "ann",
    }),
  );
  await insertItem(db, { ...HELD_BACK, workflowId: CANCELLATION, open: true }, 2_000);
  const idle = cancelScheduledPaymentsId("acme", "idle");
  await gateway.store.transaction((trx) =>
    insertCancellation(trx, {
      ...asked,
      workflowId: idle,
      playbook: "idle",
      requestedBy: launchedByEvents("idle"),
    }),
  );
  await changeCancellation(db, idle, { phase: "completed", endedAtMs: 3_000 });
}

async function seedFailures(gateway: TestGateway): Promise<void> {
  const { db } = gateway.store;
  const payable = { businessId: "biz_acme", payableId: "bounced" };
  await gateway.store.transaction((trx) =>
    openIncident(trx, {
      ...OWN,
      sourceId: "bank_1",
      workflowId: INCIDENT,
      code: "R01",
      reason: "R01 insufficient funds",
      roles: ["controller"],
      nowMs: 3_000,
      failedAtMs: 3_000,
    }),
  );
  await upsertRetry(db, { ...payable, business: "acme", workflowId: RETRY, runId, nowMs: 4_000 });
  await updateRetry(db, payable, { phase: "parked", reason: "R01 insufficient funds" }, 4_000);
  await keepRetryCase(db, {
    ...payable,
    failedAtMs: 3_000,
    failedRealMs: 3_000,
    sourceId: "bank_1",
    rule: {
      codes: ["R01"],
      words: [],
      action: "retry",
      pause: true,
      payAgain: false,
      when: "when-released",
      atMost: 2,
      by: ["controller"],
    },
    giveUpAfterDays: 30,
    giveUpNotify: [],
    waitsFor: "incident",
  });
}

interface Item {
  readonly id: string;
  readonly kind: string;
  readonly totalCents: number;
  readonly waitingFor: string | null;
}

async function list(gateway: TestGateway, viewer: string, query = ""): Promise<Item[]> {
  const { status, json } = await gateway.call("GET", `/v1/runs${query}`, viewer);
  expect(status).toBe(200);
  return json["items"] as Item[];
}

function statusOf(gateway: TestGateway, viewer: string, id: string): Promise<Answer> {
  return gateway.call("GET", `/v1/runs/${encodeURIComponent(id)}`, viewer);
}

test("the list has work of every kind, newest first, without what an event started in vain", async ({
  gateway,
  viewer,
}) => {
  const items = await list(gateway, viewer);
  expect(items.map(({ id }) => id)).toEqual([runId, RETRY, INCIDENT, CANCELLATION]);
  expect(items.map(({ totalCents }) => totalCents)).toEqual([22_300, 12_300, 12_300, 4_200]);
  expect(items[1]?.waitingFor).toBe("a person: R01 insufficient funds");
  expect(items[2]?.waitingFor).toBe(
    "a decision of controller: payrun incident bank_1 --released, --other-source or --top-up",
  );
});

test("filters by phase and needsAction apply to every kind", async ({ gateway, viewer }) => {
  const kinds = async (query: string) =>
    (await list(gateway, viewer, query)).map(({ kind }) => kind);
  expect(await kinds("?phase=open")).toEqual(["funding-incident"]);
  expect(await kinds("?phase=choosing")).toEqual(["cancel-scheduled"]);
  expect(await kinds("?phase=settling")).toEqual(["retry-failed-payment"]);
  expect(await kinds("?phase=tax")).toEqual([]);
  expect(await kinds("?needsAction=true")).toEqual([
    "pay-run",
    "retry-failed-payment",
    "funding-incident",
    "cancel-scheduled",
  ]);
  expect(await kinds("?needsAction=false")).toEqual([]);
});

test("each item has a status under its id, with the fields that all kinds have", async ({
  gateway,
  viewer,
}) => {
  for (const id of [runId, RETRY, INCIDENT, CANCELLATION]) {
    const { status, json } = await statusOf(gateway, viewer, id);
    expect(status, id).toBe(200);
    expect(json).toMatchObject({ id });
    for (const field of [
      "kind",
      "phase",
      "waitingFor",
      "counts",
      "totalCents",
      "planHash",
      "payments",
    ]) {
      expect(json, id).toHaveProperty(field);
    }
  }
  const { json } = await statusOf(gateway, viewer, INCIDENT);
  expect(json).toMatchObject({
    kind: "funding-incident",
    phase: "open",
    needsAction: true,
    totalCents: 12_300,
    roles: ["controller"],
    payments: [{ payableId: "bounced", amountCents: 12_300 }],
  });
});

test("status and list say of each kind when it began and ended, whether a person must act, and whether it is final", async ({
  gateway,
  viewer,
}) => {
  const items = await list(gateway, viewer);
  for (const id of [runId, RETRY, INCIDENT, CANCELLATION]) {
    const { json } = await statusOf(gateway, viewer, id);
    const { launchedAt, endedAt, needsAction, isFinal } = json;
    expect(
      items.find((item) => item.id === id),
      id,
    ).toMatchObject({ launchedAt, endedAt });
    expect(
      items.find((item) => item.id === id),
      id,
    ).toMatchObject({ needsAction, isFinal });
    expect([endedAt, needsAction, isFinal], id).toEqual([null, true, false]);
    expect(launchedAt, id).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const [payment] = json["payments"] as { contactId: string }[];
    const contactId = id === CANCELLATION ? null : "con_bounced";
    expect(payment, id).toMatchObject({ contactId });
  }
});

test("a cancel whose payment was never made is final, and needs nobody's action", async ({
  gateway,
  viewer,
}) => {
  const id = cancelScheduledPaymentsId("acme", "never-made");
  const { db } = gateway.store;
  const asked = { ...OWN, policy: cancelOfPayments([]), playbook: "", requestedBy: "ann" };
  await gateway.store.transaction((trx) =>
    insertCancellation(trx, { ...asked, workflowId: id, runId: null, reason: "r", nowMs: 1 }),
  );
  await insertItem(db, { ...HELD_BACK, workflowId: id, open: false }, 1);
  await changeCancellation(db, id, { phase: "completed", endedAtMs: 3_000 });
  const stand = { needsAction: false, isFinal: true };
  expect((await statusOf(gateway, viewer, id)).json).toMatchObject(stand);
  expect(await list(gateway, viewer, "?needsAction=false")).toMatchObject([{ id, ...stand }]);
});

test("payrun status lists by kind, playbook and phase, and says how to see more", async ({
  gateway,
  viewer,
}) => {
  const env = { PAYRUN_GATEWAY_URL: gateway.url, PAYRUN_TOKEN: viewer };
  const shown = async (...flags: readonly string[]) => {
    const { code, stdout, stderr } = await payrun(["status", ...flags], { env });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  expect(await shown("--kind", "funding-incident")).not.toContain(runId);
  expect(await shown("--playbook", "weekly")).not.toContain(INCIDENT);
  expect(await shown("--phase", "open")).toContain(INCIDENT);
  expect(await shown("--page", "2")).toContain("No runs.");
  const odd = await payrun(["status", "--kind", "odd"], { env });
  expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("must be one of pay-run")]);
});

test("payrun status shows every kind, with and without an id", async ({ gateway, viewer }) => {
  const env = { PAYRUN_GATEWAY_URL: gateway.url, PAYRUN_TOKEN: viewer };
  const { code, stdout, stderr } = await payrun(["status"], { env });
  expect(code, stderr).toBe(0);
  for (const id of [runId, INCIDENT, CANCELLATION]) expect(stdout).toContain(id);
  // A failed bill is named by its number, which the commands about it accept.
  expect(stdout).toContain("BILL-bounced Vendor of bounced");
  const incident = await payrun(["status", INCIDENT], { env });
  expect(incident.stdout).toContain("Waits for: a decision of controller");
  expect(incident.stdout).toMatch(/1 bill of \$123\.00 wait/);
  const retry = await payrun(["status", RETRY, "--json"], { env });
  expect(retry.json()).toMatchObject({ kind: "retry-failed-payment", phase: "settling" });
  const shown = await payrun(["show", RETRY], { env });
  for (const said of [stdout, shown.stdout]) {
    expect(said).toContain("waits for a person");
    expect(said).not.toContain("settling");
  }
  const watched = await payrun(["watch", INCIDENT], { env });
  expect([watched.code, watched.stderr]).toEqual([
    2,
    expect.stringContaining(`payrun status ${INCIDENT}`),
  ]);
  const byName = await payrun(["status", "weekly", "--json"], { env });
  expect(byName.json()).toMatchObject({ id: runId });
});
