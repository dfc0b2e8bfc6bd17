import { sql } from "kysely";
import { expect } from "vitest";
import { noteWorker } from "../../src/store/sql/worker-leases.ts";
import { until } from "../support/waits.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { deliver, eventBody, type TestGateway } from "./support/gateway.ts";

const test = gatewayTest();

const pragma = ({ store }: TestGateway, text: string) =>
  sql.raw(`pragma ${text}`).execute(store.db);

const ready = (gateway: TestGateway) => gateway.call("GET", "/ready", null);

test("while the store is read-only, /ready and all writes are 503 and say so, and afterwards they go on by themselves", async ({
  gateway,
}) => {
  const operator = await gateway.token("oli", ["operator"]);
  const hold = { all: true, reason: "to see" };
  await noteWorker(gateway.store.db, "host:1");
  const longAgo = { until_ms: Date.now() - 90_000 };
  await gateway.store.db.updateTable("leases").set(longAgo).execute();
  expect((await ready(gateway)).json).toMatchObject({ store: "ok", workers: "silent" });
  await pragma(gateway, "query_only = on");
  const away = await until(
    () => ready(gateway),
    ({ status }) => status === 503,
  );
  expect(away.json).toMatchObject({
    ...{ status: "not-ready", store: "read_only", workers: "unknown" },
    reason: expect.stringMatching(/^The store is read-only.*make that writable/),
  });
  const webhook = await deliver(gateway.url, eventBody({ id: "evt_1" }));
  const held = await gateway.call("POST", "/v1/holds", operator, hold);
  for (const answer of [webhook, held]) {
    expect(answer.status).toBe(503);
    expect(answer.json["error"]).toBe("store_read_only");
    expect(answer.headers.get("retry-after")).toBe("2");
  }
  const conditions = await gateway.call("GET", "/v1/conditions", operator);
  expect(conditions.json["items"]).toContainEqual(
    expect.objectContaining({ code: "store_not_writable", severity: "failed" }),
  );

  await pragma(gateway, "query_only = off");
  const back = await until(
    () => ready(gateway),
    ({ status }) => status === 200,
  );
  expect(back.json).toMatchObject({ status: "ready", store: "ok" });
  expect((await deliver(gateway.url, eventBody({ id: "evt_1" }))).json["duplicate"]).toBe(false);
  expect((await gateway.call("POST", "/v1/holds", operator, hold)).status).toBe(201);
});

test("a webhook that finds the disk full is answered with 503, so that the service delivers it again", async ({
  gateway,
}) => {
  await pragma(gateway, "max_page_count = 1");
  const body = eventBody({ id: "evt_large" }).replace(",", `,${" ".repeat(500_000)}`);
  const refused = await deliver(gateway.url, body);
  expect(refused.status).toBe(503);
  expect(refused.json).toMatchObject({
    error: "store_full",
    message: expect.stringContaining("the disk is full"),
  });
  expect(refused.headers.get("retry-after")).toBe("2");
  await pragma(gateway, "max_page_count = 1000000");
  expect((await deliver(gateway.url, body)).json).toMatchObject({ duplicate: false });
});
