import { expect, test } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { payrun as cli } from "../cli/cli.ts";
import { Browser } from "../gateway/sign-in/browser.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { approve, plannedRun, stacks, untilEnded } from "../support/stack.ts";
import { whereFound } from "../support/where-found.ts";

const start = stacks();

const WRONG_TOKEN = "payrun_planted-wrong-token-0123456789";
const COOKIE = "planted-cookie-0123456789";
const PASSWORD = "planted-database-password";

test("after a run with failures no secret is in any store, history, log, metric, error, report or answer", async () => {
  const payrun = await start();
  const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
  const failing = made[1]?.id ?? "";
  const match = { payableId: failing };
  await payrun.sandbox.control.outcome({ match, outcome: "fail", code: "R03" });
  const said = await strangers(payrun, runId);
  await approve(payrun, runId);
  await payrun.sandbox.control.setScale(43_200);
  const isParked = ({ counts }: RunStatus): boolean => (counts.parked ?? 0) === 1;
  await payrun.until(runId, "parked", isParked, 120_000);
  const path = `/v1/payables/${encodeURIComponent(failing)}`;
  const resolved = { action: "give-up", reason: "closed" };
  expect((await payrun.call("admin", "POST", `${path}/resolution`, resolved)).status).toBe(200);
  await untilEnded(payrun, runId);

  const id = encodeURIComponent(runId);
  for (const read of [
    `/v1/runs/${id}`,
    `/v1/runs/${id}/report`,
    `${path}/history`,
    "/v1/notices",
    "/v1/tokens",
    "/v1/playbooks/weekly",
  ]) {
    said[read] = JSON.stringify((await payrun.call("admin", "GET", read)).body);
  }
  const authorization = `Bearer ${payrun.tokens.get("admin")}`;
  const metrics = await fetch(`${payrun.gatewayUrl}/metrics`, { headers: { authorization } });
  said["/metrics"] = await metrics.text();
  expect(said["/metrics"]).toContain("payrun_refused_requests_total");
  Object.assign(said, await commands(payrun, runId));
  const { read, secrets } = await pages(payrun, { runId, billId: failing });
  Object.assign(said, read);

  const planted = {
    "the service's token": payrun.sandbox.business.token,
    "the webhook secret": payrun.webhookSecret,
    "the vault's key": payrun.env()["PAYRUN_ENCRYPTION_KEYS"]?.split(":")[1] ?? "",
    "a stranger's token": WRONG_TOKEN,
    "a cookie": COOKIE,
    "the database's password": PASSWORD,
    ...secrets,
    ...Object.fromEntries(
      [...payrun.tokens].map(([person, token]) => [`the token of ${person}`, token]),
    ),
  };
  for (const [what, value] of Object.entries(planted)) {
    expect(value.length, what).toBeGreaterThan(15);
  }
  const { found, places } = await whereFound(payrun, planted, said);
  expect(places).toEqual(
    expect.arrayContaining(["payrun.db", "worker.log", "gateway.log", `${runId} decoded`]),
  );
  expect(found).toEqual([]);
});

/** Sends requests of strangers; returns what they are answered. */
async function strangers(payrun: TestPayrun, runId: string): Promise<Record<string, string>> {
  const wrong = { authorization: `Bearer ${WRONG_TOKEN}`, cookie: `session=${COOKIE}` };
  const said: Record<string, string> = {};
  const ask = async (path: string, options: RequestInit) => {
    const response = await fetch(`${payrun.gatewayUrl}${path}`, options);
    expect(response.status, path).toBeGreaterThanOrEqual(400);
    said[`refused ${path}`] = JSON.stringify([...response.headers]) + (await response.text());
  };
  await ask(`/v1/runs/${encodeURIComponent(runId)}`, { headers: wrong });
  await ask("/v1/none", { headers: wrong });
  await ask("/webhooks/default", {
    method: "POST",
    headers: { ...wrong, "content-type": "application/json", "payments-signature": "t=1,v1=00" },
    body: JSON.stringify({ id: "evt_1", secret: COOKIE }),
  });
  const as = { ...wrong, authorization: `Bearer ${payrun.tokens.get("controller")}` };
  await ask("/v1/tokens", {
    method: "POST",
    headers: { ...as, "content-type": "application/json" },
    body: JSON.stringify({ name: WRONG_TOKEN, roles: ["admin"] }),
  });
  return said;
}

/**
 * Returns the console's pages for an administrator who signed in, and the secrets used for that.
 */
async function pages(
  payrun: TestPayrun,
  { runId, billId }: { readonly runId: string; readonly billId: string },
): Promise<Record<"read" | "secrets", Record<string, string>>> {
  const link = await payrun.call<{ code: string }>("admin", "POST", "/v1/sign-in-links", {});
  const browser = new Browser(payrun.gatewayUrl);
  await browser.post("/sign-in", { code: link.body.code });
  const secrets = {
    "a link that signed in": link.body.code,
    "a session": browser.cookie.split("=")[1] ?? "",
  };
  const [run, bill] = [runId, billId].map(encodeURIComponent);
  const read: Record<string, string> = {};
  for (const path of [
    ...["/", `/runs/${run}`, `/bills/${bill}`, "/needs-action", "/emergency", "/holds"],
    ...["/reports", `/reports/${run}`, "/search?q=bill", "/bills/nothing"],
  ]) {
    const answer = await browser.get(path);
    expect([200, 404], path).toContain(answer.status);
    read[`page ${path}`] = await answer.text();
  }
  expect(read["page /"]).toContain("Stop everything");
  return { read, secrets };
}

/** Returns what commands print, including those that fail. */
async function commands(payrun: TestPayrun, runId: string): Promise<Record<string, string>> {
  const token = payrun.tokens.get("admin") ?? "";
  const env = { ...payrun.env(), PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: token };
  const nowhere = {
    ...env,
    PAYRUN_DATABASE_URL: `postgres://payrun:${PASSWORD}@127.0.0.1:1/payrun?password=${PASSWORD}`,
  };
  const said: Record<string, string> = {};
  for (const [what, words, settings] of [
    ["doctor", ["doctor"], env],
    ["doctor in JSON", ["doctor", "--json"], nowhere],
    ["audit without a store", ["audit", "verify"], nowhere],
    ["token list", ["token", "list"], env],
    ["report", ["report", runId], env],
    ["audit export", ["audit", "export", "--business", "payrun:store"], env],
  ] as const) {
    const { stdout, stderr } = await cli(words, { env: settings });
    said[what] = `${stdout}${stderr}`;
  }
  expect(said["doctor"]).toContain("PAYRUN_TOKEN");
  return said;
}
