import { expect } from "vitest";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { startNoticeSender } from "../../../src/notices/sender.ts";
import { handOverClaim } from "../../../src/store/payables/claims.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { countUndelivered } from "../../../src/store/notices/notice-deliveries.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { upsertRetry } from "../../../src/store/retries/retries.ts";
import { smtpReceiver } from "../../notices/receivers.ts";
import { test } from "../vendors-scene.ts";
import { until } from "../../support/waits.ts";

const remittance = { as: "Acme, Inc.", replyTo: "payables@acme.example" };

test("a vendor is notified once of a settled payment, at its addresses of that moment", async ({
  scene,
  world,
}) => {
  const smtp = await smtpReceiver();
  const { runId, payableId } = await world.approvedRun([{ description: "Rent, November" }], {
    remittance,
  });
  await scene.settle(runId);
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
    publicUrl: () => "https://payrun.example",
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

test("a vendor is notified of a payment that settled while its retry owned the bill", async ({
  world,
}) => {
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

test("a vendor without an address gets no mail, which is no problem; an invalid address is shown", async ({
  scene,
  world,
}) => {
  const smtp = await smtpReceiver();
  const { runId, payableIds } = await world.approvedRun(
    [{ contactId: "v2" }, { contactId: "v3" }],
    {
      remittance,
    },
  );
  await scene.settle(runId);
  const channels = [] as const;
  const notify = { smtp: { url: smtp.url, from: "payrun@acme.example" }, channels };
  const profile = { ...world.world.profile, notify };
  const context = world.context();
  const sender = startNoticeSender({
    publicUrl: () => "https://payrun.example",
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
    "1 of the vendor's 2 addresses is not an e-mail address",
  );
  expect(await countUndelivered(world.store.db, runId)).toMatchObject({ unrouted: 1 });
});

test("vendors get no mail unless the playbook says so", async ({ scene, world }) => {
  const { runId } = await world.approvedRun([{}]);
  await scene.settle(runId);
  expect(await listNotices(world.store.db, { runId, kind: "remittance", limit: 1 })).toEqual([]);
});
