import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { countUndelivered, retryNotice } from "../../src/store/notices/notice-deliveries.ts";
import { listNotices, raiseNotice } from "../../src/store/notices/notices.ts";
import { FROM, states, webhook } from "./channels.ts";
import { httpReceiver, SMTP_PASSWORD, smtpReceiver } from "./receivers.ts";
import { desk, notice } from "./support.ts";
import { until } from "../support/waits.ts";

const HOUR_MS = 3_600_000;

test("a receiver that is down is tried again until it answers, under the same id", async () => {
  const hook = await httpReceiver();
  hook.answer = { status: 503, headers: { "retry-after": "60" } };
  const { store, start, advance, logged } = await desk(webhook(`${hook.url}/hidden-path`));
  await raiseNotice(store.db, notice());
  start();
  await until(
    () => countUndelivered(store.db),
    ({ retrying }) => retrying === 1,
  );
  const [failed] = await listNotices(store.db, { undelivered: true, limit: 1 });
  expect(failed?.subject).toBe("3 bills wait for approval");
  expect(logged.join("\n")).toContain("answered 503");
  expect(logged.join("\n")).not.toContain("hidden-path");
  hook.answer = { status: 200 };
  advance(61_000);
  await until(
    () => states(store),
    (all) => all.join() === "sent 2",
  );
  const ids = hook.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(1);
});

test("a notice that no receiver takes for a day is given up, listed, and sent at a person's request", async () => {
  const hook = await httpReceiver();
  hook.answer = { status: 500 };
  const { store, start, advance } = await desk(webhook(hook.url));
  await raiseNotice(store.db, notice());
  start();
  await until(
    async () => {
      advance(HOUR_MS);
      return countUndelivered(store.db);
    },
    ({ undeliverable }) => undeliverable === 1,
  );
  const before = hook.received.length;
  expect(before).toBeLessThan(15);
  const [given] = await listNotices(store.db, { undelivered: true, limit: 1 });
  if (given === undefined) throw new Error("not shown");
  hook.answer = { status: 200 };
  await store.transaction((trx) => retryNotice(trx, given.noticeId, Date.now()));
  await until(
    () => states(store),
    (all) => all.join() === "sent 1",
  );
});

test("a receiver that is gone for good and a mailbox that doesn't exist are not tried again", async () => {
  const hook = await httpReceiver();
  hook.answer = { status: 410 };
  const smtp = await smtpReceiver();
  smtp.unknown.add("gone@acme.example");
  const { store, start, logged } = await desk({
    smtp: { url: smtp.url, from: FROM },
    channels: [
      ...webhook(hook.url).channels,
      {
        name: "mail",
        type: "email",
        roles: null,
        kinds: null,
        addresses: { controller: ["gone@acme.example", "here@acme.example"] },
      },
    ],
  });
  await raiseNotice(store.db, notice());
  start();
  await until(
    async () => (await states(store)).toSorted(),
    (all) => all.join() === "sent 1,undeliverable 1,undeliverable 1",
  );
  expect(smtp.mails.map(({ to }) => to)).toEqual([["here@acme.example"]]);
  expect(logged.join("\n")).not.toContain("gone@acme.example");
});

test("a refused SMTP password is logged without the password, and delays no other channel", async () => {
  const smtp = await smtpReceiver();
  const hook = await httpReceiver();
  const url = smtp.url.replace(encodeURIComponent(SMTP_PASSWORD), "wrong-password");
  const { store, start, logged } = await desk({
    smtp: { url, from: FROM },
    channels: [
      {
        name: "mail",
        type: "email",
        roles: null,
        kinds: null,
        addresses: { controller: ["cora@acme.example"] },
      },
      ...webhook(hook.url).channels,
    ],
  });
  await raiseNotice(store.db, notice());
  start();
  await until(
    async () => (await states(store)).toSorted(),
    (all) => all.join() === "pending 1,sent 1",
  );
  expect(logged.join("\n")).toContain("refused the user or password");
  expect(logged.join("\n")).not.toContain("wrong-password");
});

test("a channel that hangs delays no other channel", async () => {
  const hanging = await httpReceiver();
  hanging.answer = "never";
  const slack = await httpReceiver();
  const { store, start } = await desk({
    channels: [
      ...webhook(hanging.url).channels,
      { name: "finance", type: "slack", url: slack.url, roles: null, kinds: null },
    ],
  });
  await raiseNotice(store.db, notice());
  start();
  await until(
    () => slack.received,
    ({ length }) => length === 1,
  );
  expect(hanging.received.length).toBeLessThanOrEqual(1);
});

test("other channels get their notices, however many wait for a channel that hangs", async () => {
  const hanging = await httpReceiver();
  hanging.answer = "never";
  const slack = await httpReceiver();
  const { store, start } = await desk({
    channels: [
      ...webhook(hanging.url, { kinds: ["parked"] }).channels,
      { name: "finance", type: "slack", url: slack.url, roles: null, kinds: ["approval-needed"] },
    ],
  });
  for (let fact = 0; fact < 200; fact += 1) {
    await raiseNotice(store.db, notice({ kind: "parked", factKey: `fact_${fact}` }));
  }
  await raiseNotice(store.db, notice());
  start();
  await until(
    () => slack.received,
    ({ length }) => length === 1,
  );
});

test("a service that never returns vendors' addresses delays no other notice", async () => {
  const service = await httpReceiver();
  service.answer = "never";
  const hook = await httpReceiver();
  const smtp = await smtpReceiver();
  const { store, start } = await desk(
    { ...webhook(hook.url), smtp: { url: smtp.url, from: FROM } },
    { apiUrl: service.url },
  );
  for (let bill = 0; bill < 30; bill += 1) {
    const [factKey, contactId] = [`pay_${bill}`, `con_${bill}`];
    await raiseNotice(store.db, notice({ kind: "remittance", factKey, contactId, roles: [] }));
  }
  await raiseNotice(store.db, notice());
  start();
  const [got] = await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
  expect(got?.body).toContain("payrun.approval_needed");
});

test("notices of a sender that was killed are sent by the next one, under the same ids", async () => {
  const hook = await httpReceiver();
  hook.answer = "never";
  const { store, databaseUrl, profile, start, advance } = await desk(webhook(hook.url));
  await raiseNotice(store.db, notice());
  await raiseNotice(store.db, notice({ factKey: "run_2/hash_2" }));
  const settings = JSON.stringify({ databaseUrl, profile });
  const child = fork(new URL("children/send.ts", import.meta.url), [settings]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
  child.kill("SIGKILL");
  await once(child, "exit");
  hook.answer = { status: 204 };
  start();
  // The dead sender's claim expires.
  advance(HOUR_MS);
  await until(
    async () => (await states(store)).join(),
    (all) => all === "sent 1,sent 1",
  );
  const ids = hook.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(2);
});

test("several senders together deliver each notice once", async () => {
  const hook = await httpReceiver();
  const { store, start } = await desk(webhook(hook.url));
  for (let fact = 0; fact < 60; fact += 1) {
    await raiseNotice(store.db, notice({ factKey: `fact_${fact}` }));
  }
  start();
  start();
  start();
  await until(
    async () => (await states(store)).filter((state) => state === "sent 1").length,
    (sent) => sent === 60,
  );
  expect(hook.received).toHaveLength(60);
});
