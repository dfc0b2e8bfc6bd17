import { connect } from "node:net";
import { expect } from "vitest";
import type { GatewayContext } from "../../src/gateway/http/context.ts";
import { principalOfSession } from "../../src/gateway/http/session-principal.ts";
import { scopedTo } from "../../src/gateway/http/scope.ts";
import { listAudit, STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { hashOfSecret } from "../../src/store/approvals/secrets.ts";
import { applyPlaybook, getPlaybook } from "../../src/store/playbooks/playbooks.ts";
import {
  createFirstTokens,
  createToken,
  findToken,
  revokeToken,
} from "../../src/store/approvals/tokens.ts";
import { signedIn } from "../console/support/visits.ts";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import {
  type Answer,
  profile,
  startTestGateway,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { Browser } from "../gateway/sign-in/browser.ts";
import { planLine, seedRun, type SeededRun } from "../gateway/support/rows.ts";

/** Two administrators, as “payrun token bootstrap” creates them. */
let ada: string;
let bea: string;

const test = gatewayTest().extend("run", { auto: true }, async ({ gateway }) => {
  const first = await createFirstTokens(gateway.store, ["Ada", "Bea"], Date.now());
  [ada = "", bea = ""] = (first ?? []).map(({ token }) => token);
  return seedRun(gateway.store, {
    launchedBy: "lou",
    author: "eve",
    lines: [planLine("p1")],
  });
});

interface Made {
  readonly id: string;
  readonly token: string;
  readonly state: string;
}

async function make(
  gateway: TestGateway,
  maker: string,
  name: string,
  roles: readonly string[],
): Promise<Made> {
  const answer = await gateway.call("POST", "/v1/tokens", maker, { name, roles });
  expect(answer.status).toBe(201);
  return answer.json as unknown as Made;
}

const confirm = (gateway: TestGateway, by: string, { id }: Pick<Made, "id">): Promise<Answer> =>
  gateway.call("POST", `/v1/tokens/${id}/confirmation`, by);

function approve(gateway: TestGateway, run: SeededRun, token: string): Promise<Answer> {
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  return gateway.call("POST", path, token, { decision: "approve", planHash: run.planHash });
}

async function outcome(answer: Promise<Answer>): Promise<string> {
  const { status, json } = await answer;
  return status === 200 ? "counts" : `${status} ${String(json["error"])}`;
}

test("a token that an administrator makes for an invented person approves nothing", async ({
  gateway,
  run,
}) => {
  const bob = await make(gateway, ada, "bob", ["controller"]);
  expect(bob.state).toBe("unconfirmed");
  expect(await outcome(approve(gateway, run, bob.token))).toBe("401 unauthorized");
  expect((await confirm(gateway, ada, bob)).status).toBe(409);
  expect(await outcome(approve(gateway, run, bob.token))).toBe("401 unauthorized");
  expect((await confirm(gateway, bea, bob)).json["state"]).toBe("valid");
  expect(await outcome(approve(gateway, run, bob.token))).toBe("counts");
});

test("a token that an administrator makes for an invented administrator confirms nothing", async ({
  gateway,
}) => {
  for (const name of ["carl", "ADA", "\uff41\uff44\uff41"]) {
    const second = await make(gateway, ada, name, ["admin"]);
    const bob = await make(gateway, ada, "bob", ["controller"]);
    expect((await confirm(gateway, second.token, bob)).status).toBe(401);
    expect((await confirm(gateway, second.token, second)).status).toBe(401);
  }
  // Even a confirmed token stays one person with its namesake.
  const again = await make(gateway, bea, "aDa", ["admin"]);
  expect((await confirm(gateway, ada, again)).status).toBe(200);
  const bob = await make(gateway, ada, "bob", ["controller"]);
  expect((await confirm(gateway, again.token, bob)).status).toBe(409);
});

test("an unconfirmed administrator, as sandboxes have them, can't confirm tokens", async () => {
  const sandbox = await startTestGateway({ profiles: [profile({ sandbox: true })] });
  try {
    const { store } = sandbox;
    const made = (name: string, createdBy: string, roles = ["admin"]) =>
      createToken(store, { name, roles, createdBy, nowMs: Date.now() });
    const [mia, bob] = [await made("mia", "ada"), await made("bob", "ada", ["controller"])];
    const path = `/v1/tokens/${bob.tokenId}/confirmation`;
    expect((await sandbox.call("POST", path, mia.token)).json).toMatchObject({
      error: "not_confirmed",
    });
    expect((await findToken(store.db, bob.token))?.confirmedAtMs).toBeNull();
    const confirmed = await sandbox.token("bea", ["admin"]);
    expect((await sandbox.call("POST", path, confirmed)).status).toBe(200);
  } finally {
    await sandbox.stop();
  }
});

test("the first two administrators can't approve", async ({ gateway, run }) => {
  expect(await outcome(approve(gateway, run, ada))).toBe("403 role_missing");
  expect(await outcome(approve(gateway, run, bea))).toBe("403 role_missing");
});

test("an author of any revision of the playbook doesn't count, even if another person applied it last", async ({
  gateway,
}) => {
  const { store } = gateway;
  const known = await getPlaybook(store.db, { business: "acme", name: "weekly" });
  if (known === undefined) throw new Error("no playbook");
  const text = `${known.text}\n# changed`;
  await store.transaction((trx) =>
    applyPlaybook(trx, {
      ...{ name: known.name, kind: known.kind, business: known.business, text },
      ...{ compiled: known.compiled, author: "mia", authorTokenId: null, nowMs: Date.now() },
    }),
  );
  const run = await seedRun(store, {
    ...{ period: "2026-11-27", lines: [planLine("p2")], author: "mia" },
  });
  for (const author of ["mia", "Eve"]) {
    const token = await gateway.token(author, ["controller"]);
    expect(await outcome(approve(gateway, run, token))).toBe("403 playbook_author");
  }
});

test("a name counts once in any notation of its accents and spaces", async ({ gateway }) => {
  const launchedBy = "Jos\u00e9  Smith";
  const run = await seedRun(gateway.store, {
    lines: [planLine("p2")],
    launchedBy,
    period: "2026-11-27",
  });
  const token = await gateway.token("jose\u0301 smith", ["controller"]);
  expect(await outcome(approve(gateway, run, token))).toBe("403 launcher");
});

test("reports and explanations say who counted, and who didn't and why", async ({
  gateway,
  run,
}) => {
  await approve(gateway, run, await gateway.token("Lou", ["controller"]));
  await approve(gateway, run, await gateway.token("cora", ["controller"]));
  const viewer = await gateway.token("vera", ["viewer"]);
  const id = encodeURIComponent(run.runId);
  const report = (await gateway.call("GET", `/v1/runs/${id}/report`, viewer)).json;
  const refused = [
    {
      by: "Lou",
      code: "launcher",
      reason: "Lou launched this run; another person must approve it",
    },
  ];
  expect(report["decisions"]).toMatchObject({
    singlePerson: false,
    counted: [{ by: "cora", roles: ["controller"], decision: "approve", alone: false }],
    refused,
  });
  const history = (await gateway.call("GET", "/v1/payables/p1/history", viewer)).json;
  expect(history).toMatchObject({ approvals: [{ by: "cora" }], refused });
});

test("if a business says that it is one person's, its launcher approves and the report says so", async () => {
  const alone = await startTestGateway({ profiles: [profile({ singlePerson: true })] });
  try {
    const own = await seedRun(alone.store, { launchedBy: "lou", lines: [planLine("p1")] });
    const path = `/v1/runs/${encodeURIComponent(own.runId)}`;
    const lou = await alone.token("lou", ["controller"]);
    const body = { decision: "approve", planHash: own.planHash };
    expect((await alone.call("POST", `${path}/decisions`, lou, body)).status).toBe(200);
    expect((await alone.call("GET", `${path}/report`, lou)).json["decisions"]).toMatchObject({
      singlePerson: true,
      counted: [{ by: "lou", alone: true }],
    });
  } finally {
    await alone.stop();
  }
});

test("a token that is revoked during its request changes nothing", async ({ gateway }) => {
  const { store } = gateway;
  const made = { name: "otto", roles: ["operator"], createdBy: "setup", nowMs: Date.now() };
  const { token, tokenId } = await createToken(store, made);
  const principal = await findToken(store.db, token);
  if (principal === undefined) throw new Error("no token");
  const parts = { store, profiles: { all: () => [] }, nowMs: Date.now, sandboxesOnly: () => false };
  const context = scopedTo(parts as unknown as GatewayContext, {
    principal,
    shown: { kind: "token", secret: token },
  });
  const work = () => context.store.transactionOf("biz_acme", () => Promise.resolve("done"));
  expect(await work()).toBe("done");
  await revokeToken(store, tokenId, { by: "ada", nowMs: Date.now() });
  await expect(work()).rejects.toMatchObject({ status: 401 });
});

test("a token that somebody wrote into the store's table, or whose roles or secret they changed there, changes nothing", async ({
  gateway,
  run,
}) => {
  const { db } = gateway.store;
  const changed = (name: string, change: { roles?: string; token_hash?: string }) =>
    db.updateTable("tokens").where("name", "=", name).set(change).execute();
  const olga = await gateway.token("olga", ["operator"]);
  await changed("olga", { roles: '["controller"]' });
  expect(await outcome(approve(gateway, run, olga))).toBe("401 unauthorized");
  const cora = await gateway.token("cora", ["controller"]);
  const ofCora = db.selectFrom("tokens").selectAll().where("name", "=", "cora");
  const row = await ofCora.executeTakeFirstOrThrow();
  const added = { ...row, token_id: "tok_mallory", token_hash: hashOfSecret("mallory") };
  await db.insertInto("tokens").values(added).execute();
  expect(await outcome(approve(gateway, run, "mallory"))).toBe("401 unauthorized");
  await db.deleteFrom("tokens").where("token_id", "=", added.token_id).execute();
  await changed("cora", { token_hash: hashOfSecret("mallory") });
  expect(await outcome(approve(gateway, run, "mallory"))).toBe("401 unauthorized");
  await changed("cora", { token_hash: row.token_hash });
  expect(await outcome(approve(gateway, run, cora))).toBe("counts");
});

test("a session or a sign-in link that somebody wrote into the store's tables, or gave to another person there, changes nothing", async ({
  gateway,
}) => {
  const { store } = gateway;
  const { db } = store;
  const cora = await gateway.token("cora", ["controller"]);
  const dora = await signedIn(gateway, "dora", ["viewer"]);
  const secret = /session_[\w-]+/.exec(dora.browser.cookie)?.[0] ?? "";
  const profiles = { all: () => [] };
  const parts = { store, profiles, nowMs: Date.now, sandboxesOnly: () => false };
  const context = parts as unknown as GatewayContext;
  const work = async (): Promise<string> => {
    const principal = await principalOfSession(context, db, secret);
    if (principal === undefined) throw new Error("nobody is signed in");
    const scoped = scopedTo(context, { principal, shown: { kind: "session", secret } });
    return scoped.store.transactionOf("biz_acme", () => Promise.resolve("done"));
  };
  expect(await work()).toBe("done");
  const token = await findToken(db, cora);
  await db
    .updateTable("sessions")
    .set({ token_id: token?.tokenId ?? "", name: "cora" })
    .execute();
  await expect(work()).rejects.toMatchObject({ status: 401 });

  const link = await gateway.call("POST", "/v1/sign-in-links", cora);
  const row = await db.selectFrom("sign_in_links").selectAll().executeTakeFirstOrThrow();
  await db
    .insertInto("sign_in_links")
    .values({ ...row, code_hash: hashOfSecret("mallory") })
    .execute();
  const signs = async (code: string): Promise<string> => {
    const browser = new Browser(gateway.url);
    await browser.post("/sign-in", { code, to: "/" });
    return browser.cookie;
  };
  expect(await signs("mallory")).not.toContain("session_");
  expect(await signs(String(link.json["code"]))).toContain("session_");
});

test("once its holder has renewed a token, its maker decides nothing, not even in an open request", async ({
  gateway,
  run,
}) => {
  const bob = await make(gateway, ada, "bob", ["controller"]);
  await confirm(gateway, bea, bob);
  const body = JSON.stringify({ decision: "approve", planHash: run.planHash });
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => (answer += bytes.toString()));
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/decisions`;
  const head = [`POST ${path} HTTP/1.1`, "Host: gateway", `Authorization: Bearer ${bob.token}`];
  const about = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  const used = async () => {
    const item = (await gateway.call("GET", "/v1/tokens", ada)).json["items"] as object[];
    return item.find((each) => "id" in each && each.id === bob.id);
  };
  socket.write([...head, ...about, "", ""].join("\r\n"));
  await expect.poll(used).toMatchObject({ lastUsedAt: expect.any(String) as string });
  const renewed = await gateway.call("POST", "/v1/tokens/renewal", bob.token);
  expect(renewed.status).toBe(200);
  socket.write(body);
  await expect.poll(() => answer).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
  expect(await gateway.store.db.selectFrom("decisions").selectAll().execute()).toEqual([]);
  expect(await outcome(approve(gateway, run, String(renewed.json["token"])))).toBe("counts");
});

test("making, confirming, renewing, using and revoking a token is recorded in the trail", async ({
  gateway,
}) => {
  const bob = await make(gateway, ada, "bob", ["controller"]);
  await confirm(gateway, bea, bob);
  const renewed = await gateway.call("POST", "/v1/tokens/renewal", bob.token, {});
  expect((await gateway.call("GET", "/v1/runs", bob.token)).status).toBe(401);
  const now = String(renewed.json["token"]);
  expect((await gateway.call("GET", "/v1/runs", now)).status).toBe(200);
  expect((await gateway.call("DELETE", `/v1/tokens/${bob.id}`, bea)).json["state"]).toBe("revoked");
  expect((await gateway.call("GET", "/v1/runs", now)).status).toBe(401);
  const acts = async () =>
    (await listAudit(gateway.store.db, { businessId: STORE_TRAIL }))
      .filter(({ subject }) => subject === bob.id)
      .map(({ action, actor }) => `${action} by ${actor}`);
  await expect
    .poll(acts)
    .toEqual(
      expect.arrayContaining([
        "token.created by Ada",
        "token.confirmed by Bea",
        "token.renewed by bob",
        "token.used by bob",
        "token.revoked by Bea",
      ]),
    );
});
