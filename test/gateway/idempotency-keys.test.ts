import { expect } from "vitest";
import { DAY_MS } from "../../src/contracts/durations.ts";
import { principalOf } from "../../src/contracts/principal.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { forgetRequests } from "../../src/store/requests/keyed-requests.ts";
import { profile, type TestGateway } from "./support/gateway.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { lineState, planLine, seedRun, setLine } from "./support/rows.ts";

const test = gatewayTest({
  profiles: [profile(), profile({ name: "beta", businessId: "biz_beta" })],
});

const hurried = gatewayTest({ profiles: [profile()], limits: { ratePerToken: 1 } });

interface Sent {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** Sends a request with a key. */
async function send(
  { url }: TestGateway,
  token: string,
  key: string,
  [method, path, body]: readonly [string, string, object?],
): Promise<Sent> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "idempotency-key": key,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = JSON.parse(text) as Record<string, unknown>;
  return { status: response.status, retryAfter: response.headers.get("retry-after"), text, json };
}

const HOLD = { all: true, reason: "odd", business: "acme" };
const holdOf = (changes: object = {}) => ["POST", "/v1/holds", { ...HOLD, ...changes }] as const;

async function countHolds({ store }: TestGateway): Promise<number> {
  return (await store.db.selectFrom("holds").select("hold_id").execute()).length;
}

test("a request that comes again with its key gets the same answer, and does nothing", async ({
  gateway,
}) => {
  const token = await gateway.token("olga", ["operator"]);
  const first = await send(gateway, token, "k-1", holdOf());
  expect(first.status).toBe(201);
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme" });
  const sameInAnotherOrder = { business: "acme", reason: "odd", all: true };
  const again = await send(gateway, token, "k-1", ["POST", "/v1/holds", sameInAnotherOrder]);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(await listAudit(gateway.store.db, { businessId: "biz_acme" })).toEqual(trail);
  expect(await countHolds(gateway)).toBe(1);
});

test("a key of another request is refused, and that request does nothing", async ({ gateway }) => {
  const token = await gateway.token("olga", ["operator"]);
  await send(gateway, token, "k-1", holdOf());
  const other = await send(gateway, token, "k-1", holdOf({ reason: "another" }));
  expect([other.status, other.json]).toMatchObject([
    409,
    { error: "idempotency_key_reused", message: expect.stringContaining("for POST /v1/holds, on") },
  ]);
  expect(await countHolds(gateway)).toBe(1);
});

test("a key is its principal's, for one business and one operation", async ({ gateway }) => {
  const olga = await gateway.token("olga", ["operator"]);
  const otto = await gateway.token("otto", ["operator"]);
  const stop = { all: true, reason: "odd", business: "acme" };
  const sent = [
    await send(gateway, olga, "k-1", holdOf()),
    await send(gateway, olga, "k-1", holdOf({ business: "beta" })),
    await send(gateway, otto, "k-1", holdOf()),
    await send(gateway, olga, "k-1", ["POST", "/v1/stops", stop]),
  ];
  expect(sent.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(await countHolds(gateway)).toBe(4);
});

test("two tokens of one name, each for one business, may send the same key, named or not", async ({
  gateway,
}) => {
  const ofAcme = await gateway.token("olga", ["operator"], ["acme"]);
  const ofBeta = await gateway.token("olga", ["operator"], ["beta"]);
  const unnamed = ["POST", "/v1/holds", { all: true, reason: "odd" }] as const;
  const sent = [
    await send(gateway, ofAcme, "k-1", holdOf()),
    await send(gateway, ofBeta, "k-1", holdOf({ business: "beta" })),
    await send(gateway, ofAcme, "k-2", unnamed),
    await send(gateway, ofBeta, "k-2", unnamed),
  ];
  expect(sent.map(({ status, json }) => [status, json["business"]])).toEqual([
    ...[
      [201, "acme"],
      [201, "beta"],
    ],
    ...[
      [201, "acme"],
      [201, "beta"],
    ],
  ]);
  const again = await send(gateway, ofBeta, "k-2", unnamed);
  expect([again.status, again.text]).toEqual([201, sent[3]?.text]);
  expect(await countHolds(gateway)).toBe(4);
});

test("a request that names no business is the same one under a wider token, and never done again under a narrower", async ({
  gateway,
}) => {
  const admin = await gateway.token("ada", ["admin"]);
  const text = "kind: pay-run\nselect: { due: all }\n";
  await gateway.call("POST", "/v1/playbooks", admin, { name: "weekly", business: "acme", text });
  const ofAcme = await gateway.token("lou", ["launcher"], ["acme"]);
  const ofAll = await gateway.token("lou", ["launcher"]);
  const launch = ["POST", "/v1/runs", { playbook: "weekly" }] as const;
  const ends = (runId: string) =>
    gateway.store.db
      .updateTable("runs")
      .set({ phase: "cancelled", ended_at_ms: 1 })
      .where("run_id", "=", runId)
      .execute();
  // Temporal is down, so no answer is kept, but the launch is.
  for (const [key, first, then] of [
    ["k-1", ofAcme, ofAll],
    ["k-2", ofAll, ofAcme],
  ] as const) {
    const before = await gateway.store.db.selectFrom("runs").select("run_id").execute();
    await send(gateway, first, key, launch);
    const runs = await gateway.store.db.selectFrom("runs").select("run_id").execute();
    expect(runs).toHaveLength(before.length + 1);
    for (const { run_id: runId } of runs) await ends(runId);
    const again = await send(gateway, then, key, launch);
    expect(again.status).toBe(then === ofAll ? 503 : 403);
    expect(await gateway.store.db.selectFrom("runs").select("run_id").execute()).toHaveLength(
      runs.length,
    );
  }
});

test("of many requests with one key at the same time, one does it and all get its answer", async ({
  gateway,
}) => {
  const token = await gateway.token("olga", ["operator"]);
  const sent = await Promise.all(
    Array.from({ length: 8 }, () => send(gateway, token, "k-1", holdOf())),
  );
  expect(new Set(sent.map(({ status, json }) => `${status} ${String(json["id"])}`)).size).toBe(1);
  expect(await countHolds(gateway)).toBe(1);
});

test("a request whose process died after its effect is completed by its repeat, which doesn't do it again", async ({
  gateway,
}) => {
  const { db } = gateway.store;
  const token = await gateway.token("olga", ["operator"]);
  const first = await send(gateway, token, "k-1", holdOf());
  await db.updateTable("keyed_requests").set({ status: null, answer: null }).execute();
  const again = await send(gateway, token, "k-1", holdOf());
  expect([again.status, again.json["id"]]).toEqual([201, first.json["id"]]);
  expect(await countHolds(gateway)).toBe(1);
});

test("many bills that are resolved under a key are the same ones in a repeat, each resolved once", async ({
  gateway,
}) => {
  const { store } = gateway;
  const token = await gateway.token("olga", ["operator"]);
  const bills = ["p1", "p2", "p3"];
  const run = await seedRun(store, { lines: bills.map((id) => planLine(id)) });
  const park = (id: string) =>
    setLine(store, run.runId, id, { state: "parked", reasonCode: "R03", reason: "no account" });
  for (const id of ["p1", "p2"]) await park(id);
  const body = { reasonCode: "R03", action: "give-up", reason: "closed", business: "acme" };
  const resolve = ["POST", "/v1/resolutions", body] as const;
  const first = await send(gateway, token, "k-1", resolve);
  expect(first.json).toMatchObject({ resolved: [{ payableId: "p1" }, { payableId: "p2" }] });
  const lost = { status: null, answer: null };
  await store.db.updateTable("keyed_requests").set(lost).execute();
  await park("p3");
  const again = await send(gateway, token, "k-1", resolve);
  expect([again.status, again.json]).toEqual([200, first.json]);
  expect(await lineState(store, run.runId, "p3")).toBe("parked");
  expect(await countHolds(gateway)).toBe(2);
});

test("a repeat that its own effect would refuse says so: in progress at first, then that the answer is lost", async ({
  gateway,
}) => {
  const { db } = gateway.store;
  const token = await gateway.token("olga", ["operator"]);
  await send(gateway, token, "hold", holdOf());
  const release = ["POST", "/v1/releases", { by: "olga" }] as const;
  expect((await send(gateway, token, "k-1", release)).status).toBe(200);
  const lost = { status: null, answer: null };
  await db.updateTable("keyed_requests").set(lost).execute();
  const early = await send(gateway, token, "k-1", release);
  expect([early.status, early.retryAfter, early.json]).toMatchObject([
    409,
    "2",
    { error: "in_progress" },
  ]);
  await db.updateTable("keyed_requests").set({ created_at_ms: 0 }).execute();
  const late = await send(gateway, token, "k-1", release);
  expect([late.status, late.json]).toMatchObject([409, { error: "answer_lost" }]);
});

test("a refusal is answered again even if its cause is gone; 5xx are not kept", async ({
  gateway,
}) => {
  const token = await gateway.token("lou", ["launcher"]);
  const admin = await gateway.token("ada", ["admin"]);
  const launch = ["POST", "/v1/runs", { playbook: "weekly", business: "acme" }] as const;
  const refused = await send(gateway, token, "k-1", launch);
  expect(refused.status).toBe(404);
  const text = "kind: pay-run\nselect: { due: all }\n";
  const stored = { name: "weekly", business: "acme", text };
  expect((await gateway.call("POST", "/v1/playbooks", admin, stored)).status).toBe(200);
  expect((await send(gateway, token, "k-1", launch)).text).toBe(refused.text);
  // Temporal is down: the run is recorded, and each repeat tries to start it.
  for (const _ of ["first", "again"]) {
    expect((await send(gateway, token, "k-2", launch)).status).toBe(503);
  }
  expect(await gateway.store.db.selectFrom("runs").select("run_id").execute()).toHaveLength(1);
  const kept = await gateway.store.db.selectFrom("keyed_requests").select("status").execute();
  expect(new Set(kept.map(({ status }) => status))).toEqual(new Set([404, null]));
});

hurried(
  "a request that was refused because there were too many leaves its key free",
  async ({ gateway }) => {
    const token = await gateway.token("olga", ["operator"]);
    const sendNext = (number: number) =>
      send(gateway, token, `k-${number}`, holdOf({ reason: `${number}` }));
    let number = 0;
    while ((await sendNext(number)).status !== 429) number += 1;
    const kept = await gateway.store.db.selectFrom("keyed_requests").select("status").execute();
    expect(kept.map(({ status }) => status)).toEqual(Array.from({ length: number }, () => 201));
  },
);

test("a refused decision is judged and noted in the trail once", async ({ gateway }) => {
  const run = await seedRun(gateway.store, {
    ...{ launchedBy: "lou", author: "ada" },
    lines: [planLine("p1")],
  });
  const token = await gateway.token("lou", ["controller"]);
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  const approve = ["POST", path, { decision: "approve", planHash: run.planHash }] as const;
  const sent = [
    await send(gateway, token, "k-1", approve),
    await send(gateway, token, "k-1", approve),
  ];
  expect(sent.map(({ status }) => status)).toEqual([403, 403]);
  expect(sent[1]?.text).toBe(sent[0]?.text);
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
  expect(trail.filter(({ action }) => action === "run.decision-refused")).toHaveLength(1);
});

test("an answer is repeated only to a token that may do as much, and to none that has ended", async ({
  gateway,
}) => {
  const admin = await gateway.token("ada", ["admin"]);
  const first = await gateway.token("olga", ["operator"]);
  expect((await send(gateway, first, "k-1", holdOf())).status).toBe(201);
  const viewer = await gateway.token("olga", ["viewer"]);
  const approver = await gateway.token("olga", ["admin"]);
  const ofBeta = await gateway.token("olga", ["operator"], ["beta"]);
  for (const token of [viewer, approver, ofBeta]) {
    const { status, json } = await send(gateway, token, "k-1", holdOf());
    expect([status, json]).toMatchObject([403, { error: "forbidden" }]);
  }
  const asMuch = await gateway.token("olga", ["operator", "viewer"]);
  expect((await send(gateway, asMuch, "k-1", holdOf())).status).toBe(201);
  const { items } = (await gateway.call("GET", "/v1/tokens", admin)).json as {
    items: { id: string; name: string }[];
  };
  const mine = items.find(({ name }) => name === "olga")?.id ?? "";
  await gateway.call("DELETE", `/v1/tokens/${mine}`, admin);
  expect((await send(gateway, first, "k-1", holdOf())).status).toBe(401);
  expect(await countHolds(gateway)).toBe(1);
});

test("a repeat gets its answer although what it was about is gone", async ({ gateway }) => {
  const token = await gateway.token("olga", ["operator"]);
  const hold = await send(gateway, token, "k-1", holdOf());
  const release = ["DELETE", `/v1/holds/${String(hold.json["id"])}`] as const;
  const lifted = await send(gateway, token, "k-2", release);
  const again = await send(gateway, token, "k-2", release);
  expect([again.status, again.text]).toEqual([200, lifted.text]);
  expect((await send(gateway, token, "k-3", release)).status).toBe(404);
});

test("an answer with a secret is not kept: its repeat is told which token it was about", async ({
  gateway,
}) => {
  const token = await gateway.token("ada", ["admin"]);
  const make = ["POST", "/v1/tokens", { name: "vic", roles: ["viewer"] }] as const;
  const made = await send(gateway, token, "k-1", make);
  expect(made.status).toBe(201);
  const again = await send(gateway, token, "k-1", make);
  const { id, token: secret } = made.json;
  expect([again.status, again.json]).toMatchObject([
    409,
    { error: "secret_shown_once", details: { id } },
  ]);
  const link = ["POST", "/v1/sign-in-links"] as const;
  const { code } = (await send(gateway, token, "k-2", link)).json;
  expect(await send(gateway, token, "k-2", link)).toMatchObject({
    status: 409,
    json: { error: "secret_shown_once", details: { id: expect.stringContaining("tok_") } },
  });
  const { db } = gateway.store;
  const kept = JSON.stringify([
    await db.selectFrom("keyed_requests").selectAll().execute(),
    await db.selectFrom("keyed_effects").selectAll().execute(),
  ]);
  expect(kept).not.toContain(secret);
  expect(kept).not.toContain(code);
  const tokens = await db.selectFrom("tokens").select("name").where("name", "=", "vic").execute();
  expect(tokens).toHaveLength(1);
});

test.for<[string, string, string]>([
  ["an empty one", "", "is empty"],
  ["one of 256 characters", "x".repeat(256), "has 256 characters"],
  ["one with a space", "two words", "has a space"],
  ["one with an accent", "clé", "beyond ASCII"],
])("a key that can't be one is refused, such as %s", async ([, key, why], { gateway }) => {
  const token = await gateway.token("olga", ["operator"]);
  const { status, json } = await send(gateway, token, key, holdOf());
  expect([status, json]).toMatchObject([
    400,
    {
      error: "validation_error",
      message: expect.stringContaining(why),
      details: [{ field: "Idempotency-Key" }],
    },
  ]);
  expect(await countHolds(gateway)).toBe(0);
});

test("a key of 255 odd but visible characters works, and a request that changes nothing ignores keys", async ({
  gateway,
}) => {
  const token = await gateway.token("olga", ["operator"]);
  expect((await send(gateway, token, "~!:/'\"%".padEnd(255, "x"), holdOf())).status).toBe(201);
  expect((await send(gateway, token, "two words", ["GET", "/v1/holds"])).status).toBe(200);
});

test("a caller whose requests fill what is kept gets no new key, and loses none", async ({
  gateway,
}) => {
  const { db } = gateway.store;
  const olga = await gateway.token("olga", ["operator"]);
  const otto = await gateway.token("otto", ["operator"]);
  const first = await send(gateway, olga, "k-1", holdOf());
  // As if Otto had sent it, and as much more as may be kept.
  const filled = { principal: principalOf("otto"), bytes: 100_000_000 };
  await db.updateTable("keyed_requests").set(filled).execute();
  const refused = await send(gateway, otto, "k-2", holdOf());
  expect([refused.status, refused.json]).toMatchObject([409, { error: "too_many_keys" }]);
  const days = Number(refused.retryAfter) / 86_400;
  expect([days > 6.9, days < 7.1]).toEqual([true, true]);
  expect(await countHolds(gateway)).toBe(1);
  expect((await send(gateway, otto, "k-1", holdOf())).text).toBe(first.text);
  expect((await send(gateway, olga, "k-2", holdOf())).status).toBe(201);
  const [, path, body] = holdOf();
  expect((await gateway.call("POST", path, otto, body)).status).toBe(201);
  expect(await countHolds(gateway)).toBe(3);
});

test("a request is forgotten after seven days, and then it is a new one", async ({ gateway }) => {
  const token = await gateway.token("olga", ["operator"]);
  const first = await send(gateway, token, "k-1", holdOf());
  const forgetAt = (nowMs: number): Promise<void> =>
    gateway.store.transaction((trx) => forgetRequests(trx, nowMs - 7 * DAY_MS));
  await forgetAt(Date.now() + 6 * DAY_MS);
  expect((await send(gateway, token, "k-1", holdOf())).text).toBe(first.text);
  await forgetAt(Date.now() + 8 * DAY_MS);
  const { db } = gateway.store;
  expect(await db.selectFrom("keyed_effects").selectAll().execute()).toEqual([]);
  expect((await send(gateway, token, "k-1", holdOf())).json["id"]).not.toBe(first.json["id"]);
});

test("every operation that changes something takes a key, and the API's description says so", async ({
  gateway,
}) => {
  const { json } = await gateway.call("GET", "/openapi.json", null);
  const paths = json["paths"] as Record<
    string,
    Record<string, { readonly parameters?: readonly { readonly name: string }[] }>
  >;
  const without = Object.entries(paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) => !parameters.some(({ name }) => /^idem/i.test(name)))
        .map(([method]) => `${method} ${path}`),
    );
  expect(without.filter((name) => !name.startsWith("get "))).toEqual(["post /v1/plans"]);
});
