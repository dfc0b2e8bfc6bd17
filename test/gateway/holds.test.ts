import { expect } from "vitest";
import { HoldBody, HoldListBody } from "../../src/api/holds.ts";
import { activeHoldsFor, createHold, getHold } from "../../src/store/holds/holds.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { sharedGatewayTest } from "./support/gateway-test.ts";
import { profile, type TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";

const test = sharedGatewayTest({
  profiles: [profile(), profile({ name: "globex", businessId: "biz_globex" })],
})
  .extend("operator", { scope: "file" }, ({ gateway }) => gateway.token("oli", ["operator"]))
  .extend("run", { scope: "file", auto: true }, ({ gateway }) =>
    seedRun(gateway.store, { lines: [planLine("p1"), planLine("p2")] }),
  );

function stopping(
  gateway: TestGateway,
  run: SeededRun,
  facts: Partial<Parameters<typeof activeHoldsFor>[1]> = {},
) {
  return activeHoldsFor(gateway.store.db, {
    businessId: "biz_acme",
    payableId: "p1",
    contactId: "con_p1",
    sourceId: "balance",
    runId: run.runId,
    playbook: "weekly",
    businessNowMs: Date.now(),
    ...facts,
  });
}

test.for<[string, object, Partial<Parameters<typeof activeHoldsFor>[1]>]>([
  ["a bill", { payableId: "p1", business: "acme" }, { payableId: "p9" }],
  ["a vendor", { contactId: "con_p1", business: "acme" }, { contactId: "con_p9" }],
  ["a funding source", { source: "balance", business: "acme" }, { sourceId: "bank_9" }],
  ["a run", { run: "" }, { runId: "pay-run/acme/weekly/2027-01-01" }],
  ["a playbook", { playbook: "weekly", business: "acme" }, { playbook: "monthly" }],
  ["everything", { all: true, business: "acme" }, { businessId: "biz_globex" }],
])(
  "a hold on %s holds exactly that until it is released",
  async ([_what, target, other], { gateway, operator, run }) => {
    const body = { ...target, ...("run" in target ? { run: run.runId } : {}), reason: "looks odd" };
    const created = await gateway.call("POST", "/v1/holds", operator, body);
    expect(created.status).toBe(201);
    const hold = HoldBody.parse(created.json);
    expect(hold).toMatchObject({
      business: "acme",
      reason: "looks odd",
      author: "oli",
      until: null,
    });
    expect(await stopping(gateway, run)).toMatchObject([{ holdId: hold.id }]);
    expect(await stopping(gateway, run, other)).toEqual([]);

    const listed = HoldListBody.parse((await gateway.call("GET", "/v1/holds", operator)).json);
    expect(listed.items.map((item) => item.id)).toEqual([hold.id]);

    const released = await gateway.call("DELETE", `/v1/holds/${hold.id}`, operator);
    expect(released.json["releasedBy"]).toBe("oli");
    expect(await stopping(gateway, run)).toEqual([]);
    expect((await gateway.call("DELETE", `/v1/holds/${hold.id}`, operator)).status).toBe(404);
    const all = await gateway.call("GET", "/v1/holds?active=false", operator);
    expect(all.text).toContain(hold.id);
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme" });
    const ofHold = trail.filter(({ details }) => details["holdId"] === hold.id);
    expect(ofHold.map(({ action }) => action)).toEqual(["hold.created", "hold.released"]);
  },
);

test("a hold that names roles can be released by these roles only", async ({ gateway }) => {
  const { db } = gateway.store;
  const made = {
    ...{ businessId: "biz_acme", value: "con_p1", nowMs: Date.now(), reason: "fraud?" },
    ...{ scope: "contact" as const, author: "retry-failed-payment/acme/p1" },
    roles: ["controller"],
  };
  const { holdId } = await gateway.store.transaction((trx) => createHold(trx, made));
  const path = `/v1/holds/${holdId}`;
  for (const role of ["operator", "admin", "viewer", "owner"]) {
    const token = await gateway.token(`one-${role}`, [role]);
    expect((await gateway.call("DELETE", path, token)).status).toBe(403);
  }
  expect((await getHold(db, holdId))?.releasedAtMs).toBeNull();
  const controller = await gateway.token("carla", ["controller"]);
  const lifted = await gateway.call("DELETE", path, controller);
  expect(lifted).toMatchObject({ status: 200, json: { roles: ["controller"] } });
});

test("releasing one of two holds on everything says that the other is still on everything", async ({
  gateway,
  operator,
}) => {
  const hold = async (reason: string): Promise<string> => {
    const body = { all: true, business: "acme", reason };
    return HoldBody.parse((await gateway.call("POST", "/v1/holds", operator, body)).json).id;
  };
  const [one, other] = [await hold("odd debits"), await hold("the store is older")];
  const lift = async (id: string) =>
    (await gateway.call("DELETE", `/v1/holds/${id}`, operator)).json["stillOnHoldBy"];
  expect(await lift(one)).toEqual([other]);
  expect(await lift(other)).toEqual([]);
});

test("a hold ends by itself at its instant", async ({ gateway, operator, run }) => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const body = { payableId: "p1", business: "acme", reason: "wait an hour", until: soon };
  const hold = await gateway.call("POST", "/v1/holds", operator, body);
  expect(hold.json["until"]).toBe(soon);
  expect(await stopping(gateway, run)).toHaveLength(1);
  expect(await stopping(gateway, run, { businessNowMs: Date.now() + 3_600_001 })).toEqual([]);
  await gateway.call("DELETE", `/v1/holds/${String(hold.json["id"])}`, operator);
});

test("a hold says that it doesn't stop what was already sent", async ({
  gateway,
  operator,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p2", { state: "scheduled" });
  const body = { payableId: "p2", business: "acme", reason: "too late" };
  const hold = await gateway.call("POST", "/v1/holds", operator, body);
  expect(hold.json["note"]).toMatch(/1 of its bills is with the service already/);
  await gateway.call("DELETE", `/v1/holds/${String(hold.json["id"])}`, operator);
});

test("a hold that would already have ended is refused with the current time in words", async ({
  gateway,
  operator,
}) => {
  const body = { payableId: "p1", business: "acme", reason: "r", until: "2020-01-01" };
  const answer = await gateway.call("POST", "/v1/holds", operator, body);
  expect(answer.json["message"]).toMatch(
    /^until \(2020-01-01\) has passed: it is \w+, \w+ \d+, \d+:\d\d [AP]M New York on the business clock\.$/,
  );
});

test.for([
  ["no target", { reason: "r", business: "acme" }, 400],
  ["two targets", { payableId: "p1", all: true, reason: "r", business: "acme" }, 400],
  ["no reason", { payableId: "p1", business: "acme" }, 400],
  ["an unknown field", { payable: "p1", reason: "r", business: "acme" }, 400],
  ["an end that is no date", { payableId: "p1", reason: "r", until: "soon" }, 400],
  [
    "an end in the past",
    { payableId: "p1", reason: "r", until: "2020-01-01", business: "acme" },
    422,
  ],
  ["several businesses to choose from", { all: true, reason: "r" }, 422],
  [
    "a bill that only the service could know, which is away",
    { payableId: "p404", reason: "r" },
    503,
  ],
  ["a vendor that only the service could know", { contactId: "con_nonsense", reason: "r" }, 503],
  ["an account that only the service could know", { source: "nope", reason: "r" }, 503],
  ["an unknown business", { payableId: "p1", reason: "r", business: "initech" }, 422],
  ["an unknown run", { run: "pay-run/x", reason: "r" }, 404],
  ["an unknown playbook", { playbook: "never-applied", reason: "r", business: "acme" }, 404],
])("a hold with %s is refused", async ([_what, body, status], { gateway, operator }) => {
  const answer = await gateway.call("POST", "/v1/holds", operator, body);
  expect(answer.status).toBe(status);
  expect(String(answer.json["message"]).length).toBeGreaterThan(10);
});

test("a hold can last for a duration on the business clock", async ({ gateway, operator }) => {
  const body = { payableId: "p1", business: "acme", reason: "three days" };
  const before = Date.now();
  const created = await gateway.call("POST", "/v1/holds", operator, { ...body, until: "P3D" });
  expect(created.status).toBe(201);
  const untilMs = Date.parse(HoldBody.parse(created.json).until ?? "");
  expect(untilMs - before).toBeGreaterThan(70 * 3_600_000);
  expect(untilMs - before).toBeLessThan(74 * 3_600_000);
  const odd = await gateway.call("POST", "/v1/holds", operator, { ...body, until: "soon" });
  expect(odd.status).toBe(400);
  await gateway.call("DELETE", `/v1/holds/${String(created.json["id"])}`, operator);
});

test("a hold on a bill that a run has seen needs no business", async ({ gateway, operator }) => {
  const body = { payableId: "p1", reason: "known" };
  const created = await gateway.call("POST", "/v1/holds", operator, body);
  expect(created).toMatchObject({ status: 201, json: { business: "acme" } });
  await gateway.call("DELETE", `/v1/holds/${String(created.json["id"])}`, operator);
});

test("the list of holds has every hold of all businesses on exactly one of its pages", async ({
  gateway,
  operator,
}) => {
  const ids: string[] = [];
  for (const business of ["acme", "acme", "acme", "globex", "globex"]) {
    const body = { all: true, business, reason: "Stop." };
    const answer = await gateway.call("POST", "/v1/holds", operator, body);
    ids.push(HoldBody.parse(answer.json).id);
  }
  const found: string[] = [];
  for (let page: number | null = 1; page !== null;) {
    const path: string = `/v1/holds?page=${page}&pageSize=2`;
    const holds = HoldListBody.parse((await gateway.call("GET", path, operator)).json);
    expect(holds.totalCount).toBeGreaterThanOrEqual(5);
    expect(holds.items.length).toBeLessThanOrEqual(2);
    found.push(...holds.items.map(({ id }) => id));
    page = holds.nextPage;
  }
  expect(new Set(found).size).toBe(found.length);
  expect(found).toEqual(expect.arrayContaining(ids));
  for (const id of ids) await gateway.call("DELETE", `/v1/holds/${id}`, operator);
});
