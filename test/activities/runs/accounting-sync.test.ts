import { expect } from "vitest";
import { accountingWarning } from "../../../activities/runs/accounting-sync.ts";
import { planOnce } from "../../../activities/runs/make-plan.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { test } from "../vendors-scene.ts";
import { until } from "../../support/waits.ts";

const DAY_MS = 86_400_000;

test("a plan warns if no accounting integration is connected, and operators are notified", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}], { accounting: { syncedWithinDays: 1 } });
  const summary = await planOnce(world.context(), runId);
  expect(summary?.warnings).toEqual(["No accounting integration is connected."]);
  const notices = await listNotices(world.store.db, {
    runId,
    kind: "plan-warning",
    limit: 5,
  });
  expect(notices).toMatchObject([{ roles: ["operator"] }]);
});

test("the books are out of date once their last sync is older than the playbook allows", async ({
  world,
}) => {
  const client = world.context().clientOf("acme");
  const { businessId } = world;
  const warning = (nowMs: number) =>
    accountingWarning(client, businessId, { syncedWithinDays: 2 }, nowMs);
  await client.accounting.connect(businessId, "https://acme.example/back");
  const authorized = await fetch(
    `${world.world.sandbox.url}/sandbox/accounting/${businessId}/authorize`,
    { method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
  );
  expect(authorized.ok).toBe(true);
  const [integration] = await client.accounting.list(businessId);
  await client.accounting.sync(businessId, integration?.id ?? "");
  await world.control.advance("PT1H");
  const syncedAt = await until(
    async () => (await client.accounting.getStatus(businessId)).lastSyncedAt,
    (at) => at !== null,
  );
  const syncedMs = Date.parse(syncedAt ?? "");
  expect(await warning(syncedMs + 2 * DAY_MS)).toBeNull();
  expect(await warning(syncedMs + 3 * DAY_MS)).toMatch(/last synced 3 days ago/);
});

test.each<[string, Record<string, unknown>, RegExp | null]>([
  ["the status says so by itself", { status: { lastSyncedAt: "2026-11-20T12:00:00Z" } }, null],
  [
    "only the most recent sync says when",
    { status: {}, list: [{ id: "acct_1" }], sync: { finishedAt: "2026-11-20T12:00:00Z" } },
    null,
  ],
  [
    "that sync has failed",
    {
      status: { connected: true, accountingIntegrationId: "acct_1" },
      sync: { finishedAt: "2026-11-20T12:00:00Z", status: "failed" },
    },
    /shows no sync/,
  ],
  ["nothing says when", { status: { lastSyncedAt: "lately" }, list: [] }, /shows no sync/],
  ["nothing is connected", { status: { connected: false } }, /No accounting integration/],
  ["the service knows of none", {}, /No accounting integration/],
])("books of another service are judged when %s", async (_, answers, warning) => {
  const answer = (name: string) => () =>
    answers[name] === undefined
      ? Promise.reject(
          new PaymentsApiError({
            code: "not_found",
            status: 404,
            outcome: "not_applied",
            message: "",
            method: "GET",
            path: "/",
          }),
        )
      : Promise.resolve(answers[name]);
  const accounting = {
    getStatus: answer("status"),
    list: answer("list"),
    getSyncStatus: answer("sync"),
  };
  const client = { accounting } as unknown as Parameters<typeof accountingWarning>[0];
  const nowMs = Date.parse("2026-11-21T12:00:00Z");
  const told = await accountingWarning(client, "biz_1", { syncedWithinDays: 2 }, nowMs);
  if (warning === null) expect(told).toBeNull();
  else expect(told).toMatch(warning);
});
