import { sql } from "kysely";
import { expect } from "vitest";
import { InboxWriter } from "../../src/events/inbox-writer.ts";
import type { NewInboxEvent } from "../../src/store/events/inbox.ts";
import { StoreError } from "../../src/store/index.ts";
import { sharedGatewayTest } from "../gateway/support/gateway-test.ts";

const test = sharedGatewayTest();

function event(eventId: string, businessId = "biz_acme"): NewInboxEvent {
  const about = { type: "t", sequence: "1", object: "payable", objectId: "p", createdAt: "" };
  return { businessId, eventId, ...about, receivedAtMs: 1, via: "webhook", body: "{}" };
}

test("events that arrive together are stored once each, by business, and the caller learns which were new", async ({
  gateway,
}) => {
  const inbox = new InboxWriter(gateway.store);
  const kept = await Promise.all([
    inbox.keep(event("evt_1")),
    inbox.keep(event("evt_1")),
    inbox.keep(event("evt_1", "biz_north")),
    inbox.keep(event("evt_2")),
  ]);
  expect(kept).toEqual([true, false, true, true]);
  expect(await inbox.keep(event("evt_2"))).toBe(false);
});

test("an event that the store refuses doesn't affect those that came with it", async ({
  gateway,
}) => {
  const inbox = new InboxWriter(gateway.store);
  const broken = { ...event("evt_broken"), body: null as unknown as string };
  const kept = await Promise.allSettled([
    inbox.keep(event("evt_3")),
    inbox.keep(broken),
    inbox.keep(event("evt_4")),
  ]);
  expect(kept.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("while nothing can be written, each event is refused at once, and later ones are kept again", async ({
  gateway,
}) => {
  const inbox = new InboxWriter(gateway.store);
  await sql.raw("pragma query_only = on").execute(gateway.store.db);
  const refused = await Promise.allSettled(["evt_5", "evt_6"].map((id) => inbox.keep(event(id))));
  await sql.raw("pragma query_only = off").execute(gateway.store.db);
  for (const each of refused) {
    expect(each).toMatchObject({ status: "rejected", reason: expect.any(StoreError) });
  }
  expect(await inbox.keep(event("evt_5"))).toBe(true);
});
