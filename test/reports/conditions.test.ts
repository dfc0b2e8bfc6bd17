import { expect, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { conditionsOf } from "../../src/reports/conditions.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { releaseHold } from "../../src/store/holds/holds.ts";
import { lossNoticed } from "../../src/store/janitor/behind.ts";
import { noteHistoryKey } from "../../src/store/runs/history-keys.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";
import { takeLease } from "../../src/store/sql/leases.ts";
import { noteWorker } from "../../src/store/sql/worker-leases.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Store } from "../../src/store/index.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { confirmedToken } from "../support/confirmed-token.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { testStore } from "../store/support.ts";

const DAY_MS = 86_400_000;

type Notify = NonNullable<BusinessProfile["notify"]>;

const TOLD: Notify = {
  channels: [{ name: "ops", type: "slack", url: "https://x.example", roles: null, kinds: null }],
};

function profile(notify: Notify | undefined = TOLD): BusinessProfile {
  return {
    name: "acme",
    apiUrl: "https://payments.example.com",
    businessId: "biz_acme",
    token: { kind: "value", value: "t" },
    webhookSecrets: [],
    sandbox: true,
    ...(notify === undefined ? {} : { notify }),
  };
}

/** Returns the arguments for a store; tests override some of them. */
function asked({ db }: Store) {
  const storeState = "ok" as const;
  return {
    ...{ db, storeState, profiles: [profile()] },
    ...{ sandboxesOnly: true, nowMs: Date.now(), keyIds: [] },
  };
}

async function codes(store: Store, profiles = [profile()], nowMs = Date.now()) {
  const found = await conditionsOf({ ...asked(store), profiles, nowMs });
  return found.map(({ code, severity }) => `${severity} ${code}`);
}

test("a gateway that has heard of no worker reports a failure and what helps", async () => {
  const { store } = await testStore();
  const [none] = await conditionsOf(asked(store));
  expect(none).toMatchObject({ code: "no_worker", severity: "failed" });
  expect(none?.remedy).toContain("payrun worker");
  await noteWorker(store.db, "host:1");
  expect(await codes(store)).toEqual([]);
});

test("a Temporal that is silent for more than half a minute is reported first, but not a restart", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const nowMs = Date.now();
  const sinceMs = (ms: number) =>
    conditionsOf({ ...asked(store), nowMs, temporalSilentSinceMs: nowMs - ms });
  expect(await sinceMs(29_000)).toEqual([]);
  const [silent] = await sinceMs(180_000);
  expect(silent).toMatchObject({ code: "temporal_unreachable", severity: "failed" });
  expect(silent?.text).toContain("for 3 minutes: runs stand still");
});

test("a worker without the gateway's encryption key is reported, and a gateway without a worker's key", async () => {
  const { store } = await testStore();
  const found = async (keyIds: readonly string[]) =>
    (await conditionsOf({ ...asked(store), keyIds })).map(({ code, text }) => [code, text]);
  await noteWorker(store.db, "host:1", ["k2", "k1"]);
  expect(await found(["k2"])).toEqual([]);
  expect(await found(["k1", "k2"])).toEqual([]);
  expect(await found([])).toEqual([
    ["key_missing", expect.stringContaining("the settings here have no encryption key “k2”")],
  ]);
  await noteWorker(store.db, "host:1");
  expect(await found(["k2"])).toEqual([
    ["key_missing", expect.stringContaining("the worker host:1 has no encryption key “k2”")],
  ]);
});

test("a worker that has not said yet which keys it has is not reported to lack one", async () => {
  const { store } = await testStore();
  await takeLease(store.db, { name: "worker/host:1", holder: "worker/host:1" }, 60_000);
  expect(await conditionsOf({ ...asked(store), keyIds: ["k2"] })).toEqual([]);
});

test("a key that was taken away is reported while runs that began with it are open", async () => {
  const { store } = await testStore();
  const found = async () =>
    (await conditionsOf({ ...asked(store), keyIds: ["new"] }))
      .filter(({ code }) => code === "key_missing")
      .map(({ text }) => text);
  await noteHistoryKey(store.db, "old");
  await noteWorker(store.db, "host:1", ["new"]);
  expect(await found()).toEqual([]);
  const { runId } = await seedRun(store, { lines: [planLine("p1")] });
  await noteHistoryKey(store.db, "old");
  expect(await found()).toEqual([
    expect.stringMatching(/the worker host:1 has no encryption key “old”, .* work that is open/),
  ]);
  await store.db
    .updateTable("runs")
    .set({ ended_at_ms: Date.now() })
    .where("run_id", "=", runId)
    .execute();
  expect(await found()).toEqual([]);
});

test("a worker that is silent for half a minute counts as none, and as a warning beside another worker", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  await store.db
    .updateTable("leases")
    .set((eb) => ({ until_ms: eb("until_ms", "-", 90_000) }))
    .execute();
  const [silent] = await conditionsOf(asked(store));
  expect(silent).toMatchObject({ code: "no_worker", severity: "failed" });
  expect(silent?.text).toMatch(/nothing was heard from host:1 for \d+ seconds?/);
  expect(silent?.remedy).toContain("“kill -KILL 1” on host");
  await noteWorker(store.db, "host:2");
  expect(await codes(store)).toEqual(["warning worker_silent"]);
  const [beside] = await conditionsOf(asked(store));
  expect(beside?.remedy).toContain("“kill -KILL 1” on host");
});

test.each([
  ["full", /^the store's disk is full, so that nothing can be written.*no webhook is kept/],
  ["read_only", /^the store is read-only, so that nothing can be written/],
  ["locked", /^another process keeps the store locked/],
] as const)(
  "a store that is %s is reported first, and no worker is called frozen for not noting its work",
  async (storeState, says) => {
    const { store } = await testStore();
    await noteWorker(store.db, "host:1");
    const working = await conditionsOf({ ...asked(store), storeState });
    expect(working.map(({ code }) => code)).toEqual(["store_not_writable"]);
    await store.db
      .updateTable("leases")
      .set((eb) => ({ until_ms: eb("until_ms", "-", 90_000) }))
      .execute();
    const [cause, workers] = await conditionsOf({ ...asked(store), storeState });
    expect(cause).toMatchObject({ code: "store_not_writable", severity: "failed" });
    expect(cause?.text).toMatch(says);
    expect(workers?.text).toContain("whether workers work is unknown");
    expect(workers?.remedy).not.toContain("kill");
    const back = await conditionsOf({ ...asked(store), hasJustRecovered: true });
    expect(back.map(({ text }) => text)).toEqual([workers?.text]);
  },
);

test("a clock skew is reported, and so is a business whose channels take no notices that need people", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  expect(await codes(store, [profile()], Date.now() - 60_000)).toContain("warning clock_skew");
  const { notify: _, ...untold } = profile();
  expect(await codes(store, [untold])).toEqual(["warning nobody_told"]);
  const digestOnly = { channels: TOLD.channels.map((each) => ({ ...each, kinds: ["digest"] })) };
  expect(await codes(store, [profile(digestOnly)])).toEqual(["warning nobody_told"]);
});

test("a paused webhook endpoint is reported until webhooks arrive again", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const raise = (state: string, nowMs: number) =>
    store.transactionOf("biz_acme", (trx) =>
      raiseNotice(trx, {
        ...{ businessId: "biz_acme", kind: "webhooks-paused", factKey: state, nowMs },
        ...{
          subject: "s",
          text: "t",
          roles: [],
          data: { endpointId: "e", url: "u", state, outcome: "The service said no." },
        },
      }),
    );
  await raise("paused", Date.now());
  expect(await codes(store)).toEqual(["warning webhooks_paused"]);
  const [paused] = await conditionsOf(asked(store));
  expect(paused?.remedy).toMatch(
    /^The service said no\. See that the service reaches u .*PAYRUN_P/,
  );
  await raise("active", Date.now() + 1);
  expect(await codes(store)).toEqual([]);
});

test("a token that ends within two weeks is reported to its holder and to administrators until it is replaced", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const nowMs = Date.now();
  const make = (expiresAtMs: number) =>
    createToken(store, {
      name: "cora",
      roles: ["controller"],
      createdBy: "ada",
      nowMs,
      expiresAtMs,
    });
  await make(nowMs + 5 * DAY_MS);
  const [soon] = await conditionsOf(asked(store));
  expect(soon?.text).toBe("the token of cora (controller) ends in 5 days");
  expect(soon?.remedy).toContain("payrun token create cora --role controller");
  const of = (roles: readonly string[]) => ({ tokenId: "t", name: "x", roles, businesses: null });
  expect(await conditionsOf({ ...asked(store), caller: of(["viewer"]) })).toEqual([]);
  expect(await conditionsOf({ ...asked(store), caller: of(["admin"]) })).toHaveLength(1);
  await make(nowMs + 80 * DAY_MS);
  expect(await codes(store)).toEqual([]);
  const ann = { name: "Ann Lee", roles: ["owner", "viewer"], businesses: ["acme"] };
  const expiresAtMs = nowMs + 5 * DAY_MS;
  await createToken(store, { ...ann, createdBy: "ada", nowMs, expiresAtMs });
  const [theirs] = await conditionsOf(asked(store));
  expect(theirs?.remedy).toContain(
    'payrun token create "Ann Lee" --role owner --role viewer --business acme',
  );
});

test("a token that ends soon is reported although a later one acts for another business or is not confirmed", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const nowMs = Date.now();
  const cora = { name: "cora", roles: ["controller"], createdBy: "ada", nowMs };
  const days = (count: number) => ({ ...cora, expiresAtMs: nowMs + count * DAY_MS });
  const ends = async (sandboxesOnly: boolean) =>
    (await conditionsOf({ ...asked(store), sandboxesOnly }))
      .filter(({ code }) => code === "token_expires")
      .map(({ text }) => text);
  const SOON = ["the token of cora (controller) ends in 5 days"];
  await confirmedToken(store, { ...days(5), businesses: ["acme"] });
  await confirmedToken(store, { ...days(80), businesses: ["globex"] });
  expect(await ends(true)).toEqual(SOON);
  await createToken(store, { ...days(80), businesses: ["acme"] });
  expect(await ends(false)).toEqual(SOON);
  expect(await ends(true)).toEqual([]);
  await confirmedToken(store, days(80));
  expect(await ends(false)).toEqual([]);
});

test("a role that a playbook needs and nobody has is reported with the nearest role that somebody has", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const nowMs = Date.now();
  const text = "kind: pay-run\napprove: [{ by: [controler] }]\n";
  await storePlaybook(store, { name: "rent", text });
  const [nobody] = await conditionsOf(asked(store));
  expect(nobody).toMatchObject({
    code: "nobody_approves",
    business: "acme",
    text: "rent asks for an approval by controler, and nobody has that role",
    remedy: "An administrator makes a token: payrun token create NAME --role controler",
  });
  const make = (roles: readonly string[], businesses: readonly string[] | null = null) =>
    createToken(store, { name: "cora", roles, businesses, createdBy: "ada", nowMs });
  await make(["controller"]);
  const [typo] = await conditionsOf(asked(store));
  expect(typo?.remedy).toMatch(/^Did you mean controller\? Correct the playbook/);
  // A token for another business only can't approve here.
  await make(["controler"], ["globex"]);
  expect(await codes(store)).toEqual(["warning nobody_approves"]);
  const key = { keyId: "k", name: "erp", roles: ["controler"], publicKey: "" };
  expect(await codes(store, [{ ...profile(), signers: [key] }])).toEqual([]);
  await make(["controler"]);
  expect(await codes(store)).toEqual([]);
  // Beside a business that moves real money, which the caller may not see, the token is
  // unconfirmed.
  const beside = await conditionsOf({ ...asked(store), sandboxesOnly: false });
  expect(beside.map(({ code }) => code)).toEqual(["nobody_approves"]);
});

test("a stage is covered by the roles that it escalates to, and every stage needs a person", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  const stages = "{ by: [cfo], escalate: { after: 1 day, to: [owner] } }, { by: [board] }";
  const text = `kind: pay-run\napprove: [{ stages: [${stages}] }]\n`;
  await storePlaybook(store, { name: "large", text });
  const owner = { name: "olga", roles: ["owner"], createdBy: "ada", nowMs: Date.now() };
  await createToken(store, owner);
  const found = await conditionsOf(asked(store));
  expect(found.map(({ text: said }) => said)).toEqual([
    "large asks for an approval by board, and nobody has that role",
  ]);
});

test("a store that is older than what was done with it is reported until its hold is released", async () => {
  const { store } = await testStore();
  await noteWorker(store.db, "host:1");
  await noticeLoss(store);
  const { holdId = "" } = (await lossNoticed(store.db, "biz_acme")) ?? {};
  const behind = (await conditionsOf(asked(store))).find(({ code }) => code === "store_behind");
  expect(behind).toMatchObject({ severity: "failed", business: "acme" });
  expect(behind?.text).toMatch(
    /token that was revoked or got a new secret after the backup counts/,
  );
  expect(behind?.remedy).toContain(`payrun release ${holdId}`);
  await store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
  expect(await codes(store)).not.toContain("failed store_behind");
});
