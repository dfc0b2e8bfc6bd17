import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { accountingWarning } from "../../activities/accounting-sync.ts";
import { createPlanActivities } from "../../activities/plan-run.ts";
import { retryFailedPaymentId } from "../../src/contracts/names.ts";
import { bankCsv } from "../../src/gateway/bank-csv.ts";
import { PaymentsApiError, type PaymentsClient } from "../../src/payments-api/index.ts";
import { startNoticeSender } from "../../src/notices/sender.ts";
import { handOverClaim } from "../../src/store/claims.ts";
import { changeLine } from "../../src/store/lines.ts";
import { countUndelivered } from "../../src/store/notice-deliveries.ts";
import { listNotices } from "../../src/store/notices.ts";
import { upsertRetry } from "../../src/store/retries.ts";
import { getRun } from "../../src/store/runs.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { smtpReceiver } from "../notices/receivers.ts";
import { until } from "../notices/support.ts";
import { MoneyWorld } from "./money-world.ts";

const DAY_MS = 86_400_000;
const remittance = { as: "Acme, Inc.", replyTo: "payables@acme.example" };

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset({
    contacts: [
      {
        id: "v1",
        displayName: "=One & Sons",
        emails: ["billing@one.example", "owner@one.example"],
        bankAccount: { last4: "1111" },
      },
      { id: "v2", displayName: "Two", bankAccount: { last4: "2222" } },
      {
        id: "v3",
        displayName: "Three",
        emails: ["billing at three.example", "owner@three.example"],
        bankAccount: { last4: "3333" },
      },
    ],
  });
});

async function settle(runId: string): Promise<void> {
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.follow(runId);
}

test("a vendor is told once which bill a settled payment covers, at the addresses it has then", async () => {
  const smtp = await smtpReceiver();
  const { runId, payableId } = await world.approvedRun([{ description: "Rent, November" }], {
    remittance,
  });
  await settle(runId);
  expect((await world.line(runId, payableId)).state).toBe("settled");
  const [payment] = await world.paymentsOf(payableId);
  const notices = await listNotices(world.store.db, { runId, kind: "remittance", limit: 10 });
  expect(notices).toMatchObject([{ factKey: payment?.id, contactId: "v1" }]);

  const from = "Payrun <payrun@acme.example>";
  const profile = {
    ...world.world.profile,
    notify: { smtp: { url: smtp.url, from }, channels: [] },
  };
  const context = world.context();
  const sender = startNoticeSender({
    store: world.store,
    profiles: { byBusinessId: (id) => (id === profile.businessId ? profile : undefined) },
    clientOf: () => context.clientOf("acme"),
    log: { warn: () => undefined },
    nowMs: Date.now,
    noticesEveryMs: 50,
  });
  try {
    await until(
      () => smtp.mails,
      ({ length }) => length === 2,
    );
  } finally {
    await sender.stop();
  }
  expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual([
    "billing@one.example",
    "owner@one.example",
  ]);
  const source = smtp.mails[0]?.source ?? "";
  expect(source).toMatch(/^Subject: Payment of \$100\.00 from Acme, Inc\. for /m);
  expect(source).toContain("Reply-To: payables@acme.example");
  expect(source).toContain("Rent, November");
  expect(source).toContain(payment?.id);
});

test("a payment that settled in the hands of its retry is told of as well", async () => {
  const { runId, payableId } = await world.approvedRun([{}], { remittance });
  await world.pay(runId);
  const { businessId } = world;
  const workflowId = retryFailedPaymentId("acme", payableId);
  const nowMs = Date.now();
  await world.store.transaction(async (trx) => {
    await handOverClaim(trx, { businessId, payableId, from: runId, to: workflowId });
    const retry = { businessId, payableId, business: "acme", workflowId, runId, nowMs };
    await upsertRetry(trx, retry);
    await changeLine(trx, { runId, payableId }, { state: "retrying" }, nowMs);
  });
  await world.control.advance("P9D");
  expect((await world.look(payableId)).phase).toBe("ended");
  expect((await world.line(runId, payableId)).state).toBe("settled");
  const [payment] = await world.paymentsOf(payableId);
  const notices = await listNotices(world.store.db, { runId, kind: "remittance", limit: 10 });
  expect(notices.map(({ factKey }) => factKey)).toEqual([payment?.id]);
});

test("a vendor without an address is not written to, which is no fault; one whose address is none is shown", async () => {
  const smtp = await smtpReceiver();
  const { runId, payableIds } = await world.approvedRun(
    [{ contactId: "v2" }, { contactId: "v3" }],
    {
      remittance,
    },
  );
  await settle(runId);
  const channels = [] as const;
  const notify = { smtp: { url: smtp.url, from: "payrun@acme.example" }, channels };
  const profile = { ...world.world.profile, notify };
  const context = world.context();
  const sender = startNoticeSender({
    store: world.store,
    profiles: { byBusinessId: (id) => (id === profile.businessId ? profile : undefined) },
    clientOf: () => context.clientOf("acme"),
    log: { warn: () => undefined },
    nowMs: Date.now,
    noticesEveryMs: 50,
  });
  const advices = () => listNotices(world.store.db, { runId, kind: "remittance", limit: 5 });
  try {
    await until(
      async () => (await advices()).filter(({ routedAtMs }) => routedAtMs !== null),
      ({ length }) => length === 2,
    );
    await until(
      () => smtp.mails,
      ({ length }) => length === 1,
    );
  } finally {
    await sender.stop();
  }
  expect(smtp.mails[0]?.to).toEqual(["owner@three.example"]);
  const problems = new Map(
    (await advices()).map(({ data, routeProblem }) => [data["payableId"], routeProblem]),
  );
  expect(problems.get(payableIds[0] ?? "")).toBeNull();
  expect(problems.get(payableIds[1] ?? "")).toBe(
    "1 of the vendor's 2 addresses is no e-mail address",
  );
  expect(await countUndelivered(world.store.db, runId)).toMatchObject({ unrouted: 1 });
});

test("vendors are not written to unless the playbook says so", async () => {
  const { runId } = await world.approvedRun([{}]);
  await settle(runId);
  expect(await listNotices(world.store.db, { runId, kind: "remittance", limit: 1 })).toEqual([]);
});

async function bankTable(
  runId: string,
  client: PaymentsClient = world.context().clientOf("acme"),
): Promise<string> {
  const run = await getRun(world.store.db, runId);
  if (run === undefined) throw new Error("no run");
  const { profile } = world.world;
  const profiles = { byBusinessId: () => profile, get: () => profile, all: () => [profile] };
  const clientOf = () => client;
  let table = "";
  for await (const part of await bankCsv({ store: world.store, profiles, clientOf }, run)) {
    table += part;
  }
  return table;
}

/** What the payer's bank wrote, by its own ledger: `PAYMENT debit|credit DOLLARS`. */
async function statement(): Promise<string[]> {
  const ledger = await world.control.ledger();
  const reached = new Set(
    ledger.flatMap(({ kind, paymentId }) => (kind === "credit" ? paymentId : [])),
  );
  return ledger
    .flatMap(({ kind, paymentId, amountCents }) => {
      // What comes back from a payee goes to the payer as a refund.
      const isPayers = kind === "return" ? !reached.has(paymentId) : kind !== "credit";
      const side = kind === "debit" ? "debit" : "credit";
      return isPayers ? [`${paymentId} ${side} ${(amountCents / 100).toFixed(2)}`] : [];
    })
    .toSorted();
}

test("the bank table ties to the bank's ledger cent by cent, and has nothing that a spreadsheet runs", async () => {
  await world.failurePlaybook(NEXT_DAY_RETRIES);
  const { runId, payableIds } = await world.approvedRun([
    { totalAmountCents: 12_345, description: "@SUM(A1:A9)" },
    { totalAmountCents: 25_000_000 },
    { contactId: "v2", totalAmountCents: 700 },
    { totalAmountCents: 4_321 },
    { contactId: "v3", totalAmountCents: 88_01 },
  ]);
  const [, , returned = "", retried = "", refused = ""] = payableIds;
  const fail = (payableId: string, outcome: "fail" | "return", code: string) =>
    world.control.outcome({ match: { payableId }, outcome, code, times: 1 });
  await fail(returned, "return", "R03");
  await fail(retried, "fail", "R01");
  await fail(refused, "fail", "R02");
  await world.pay(runId);
  await world.control.advance("P9D");
  await world.follow(runId);
  await world.follow(runId);
  for (const payableId of [retried, refused]) await world.look(payableId);
  await world.control.advance("P4D");
  expect((await world.look(retried)).phase).toBe("pay");
  await world.retry(retried);
  await world.control.advance("P9D");
  expect((await world.look(retried)).phase).toBe("ended");
  const part = await world.plannedRun([{ totalAmountCents: 90_000 }], {}, 33_33);
  await world.approve(part.runId);
  await settle(part.runId);

  const tables = [await bankTable(runId), await bankTable(part.runId)];
  const rows = tables.flatMap((table) => table.trim().split("\r\n").slice(1));
  const written = rows.map((row) => {
    const [, entry, debit, credit, paymentId] = row.split(",");
    return `${paymentId} ${entry === "debit" ? `debit ${debit}` : `credit ${credit}`}`;
  });
  expect(written.toSorted()).toEqual(await statement());
  expect(written.filter((row) => row.endsWith("debit 43.21"))).toHaveLength(2);
  expect(written.filter((row) => row.endsWith("debit 33.33"))).toHaveLength(1);
  expect(written.filter((row) => row.includes(" credit "))).toHaveLength(3);
  expect(tables[0]).toContain(",'=One & Sons,");
  expect(tables[0]).toContain(",'@SUM(A1:A9),");
});

test("the bank table has the payments that a service's lists leave out, or there is none", async () => {
  const { runId } = await world.approvedRun([{ totalAmountCents: 55_55 }]);
  await settle(runId);
  const whole = await bankTable(runId);
  expect(whole).toContain(",debit,55.55,");
  const { payments } = world.context().clientOf("acme");
  const listAll = () => Promise.resolve([]);
  const lagging = { payments: { listAll, get: payments.get.bind(payments) } };
  expect(await bankTable(runId, lagging as unknown as PaymentsClient)).toBe(whole);
  const get = () => Promise.reject(new Error("not found"));
  const forgetful = { payments: { listAll, get } } as unknown as PaymentsClient;
  await expect(bankTable(runId, forgetful)).rejects.toThrow(/lists no payment/);
});

test("a plan warns where nothing syncs the books, and the operators hear of it", async () => {
  const { runId } = await world.plannedRun([{}], { accounting: { syncedWithinDays: 1 } });
  const summary = await createPlanActivities(world.context()).planRun({ runId });
  expect(summary.warnings).toEqual(["No accounting integration is connected."]);
  const notices = await listNotices(world.store.db, { runId, kind: "plan-warning", limit: 5 });
  expect(notices).toMatchObject([{ roles: ["operator"] }]);
});

test("the books are old once their last sync is longer ago than the playbook allows", async () => {
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
    /tells of no sync/,
  ],
  ["nothing says when", { status: { lastSyncedAt: "lately" }, list: [] }, /tells of no sync/],
  ["nothing is connected", { status: { connected: false } }, /No accounting integration/],
  ["the service knows of none", {}, /No accounting integration/],
])("books of another service: %s", async (_, answers, warning) => {
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
