import { fork } from "node:child_process";
import { once } from "node:events";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import type { NoticeChannel, NotifySettings } from "../../src/config/business-profile.ts";
import type { Store } from "../../src/store/index.ts";
import { countUndelivered, deliveriesOf, retryNotice } from "../../src/store/notice-deliveries.ts";
import { listNotices, raiseNotice } from "../../src/store/notices.ts";
import { httpReceiver, SMTP_PASSWORD, smtpReceiver } from "./receivers.ts";
import { desk, notice, until } from "./support.ts";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.from("another secret that is going out").toString("base64")}`;
const FROM = "Payrun <payrun@acme.example>";
const HOUR_MS = 3_600_000;

function webhook(url: string, changes: Partial<NoticeChannel> = {}): NotifySettings {
  const channel = {
    name: "ops",
    type: "webhook",
    url,
    secrets: [SECRET],
    roles: null,
    kinds: null,
  };
  return { channels: [{ ...channel, ...changes } as NoticeChannel] };
}

async function states(store: Store): Promise<string[]> {
  const notices = await listNotices(store.db, { limit: 100 });
  const byNotice = await deliveriesOf(
    store.db,
    notices.map(({ noticeId }) => noticeId),
  );
  return [...byNotice.values()].flat().map(({ state, tries }) => `${state} ${tries}`);
}

test("a webhook carries the notice under a Standard Webhooks signature of every secret in force", async () => {
  const hook = await httpReceiver();
  const { store, start } = await desk(webhook(hook.url, { secrets: [SECRET, OLD_SECRET] }));
  await raiseNotice(store.db, notice({ runId: "pay-run/acme/weekly/2026-11-05" }));
  start();
  const [got] = await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
  if (got === undefined) throw new Error("nothing came");
  const headers = {
    "webhook-id": String(got.headers["webhook-id"]),
    "webhook-timestamp": String(got.headers["webhook-timestamp"]),
    "webhook-signature": String(got.headers["webhook-signature"]),
  };
  for (const secret of [SECRET, OLD_SECRET]) {
    expect(new Webhook(secret).verify(got.body, headers)).toMatchObject({
      type: "payrun.approval_needed",
      data: {
        noticeId: headers["webhook-id"],
        business: "acme",
        runId: "pay-run/acme/weekly/2026-11-05",
        planHash: "hash_1",
        roles: ["controller"],
        subject: "3 bills wait for approval",
      },
    });
  }
  expect(() => new Webhook(SECRET).verify(`${got.body} `, headers)).toThrow(
    "No matching signature found",
  );
  await until(
    () => states(store),
    (all) => all.join() === "sent 1",
  );
});

test("Slack gets its own JSON, and a vendor's name can't call everybody or become a link in it", async () => {
  const slack = await httpReceiver();
  const channel: NoticeChannel = {
    name: "finance",
    type: "slack",
    url: `${slack.url}/services/T0/B0/token`,
    roles: ["controller"],
    kinds: ["parked"],
  };
  const { store, start } = await desk({ channels: [channel] });
  await raiseNotice(store.db, notice());
  const hostile =
    'Acme <!channel> & "Sons" @here [pay](https://evil.example) <https://evil.example|x>';
  const text = `${hostile}, ask cora@acme.example\n${"&".repeat(4_000)}`;
  await raiseNotice(store.db, notice({ kind: "parked", subject: `1 bill: ${hostile}`, text }));
  start();
  const [got] = await until(
    () => slack.received,
    ({ length }) => length === 1,
  );
  const body = JSON.parse(got?.body ?? "") as {
    text: string;
    unfurl_links: boolean;
    blocks: { text: { text: string; verbatim: boolean } }[];
  };
  expect(body).toMatchObject({ unfurl_links: false, blocks: [{}, {}] });
  for (const shown of [body.text, ...body.blocks.map((block) => block.text.text)]) {
    expect(shown).toContain('Acme &lt;!channel&gt; &amp; "Sons"');
    expect(shown).not.toMatch(/[<>]|\]\(|(^|\s)@\w/);
    expect(shown.length).toBeLessThanOrEqual(3_000);
  }
  expect(body.blocks.map((block) => block.text.verbatim)).toEqual([true, true]);
  expect(body.blocks[1]?.text.text).toContain("cora@acme.example");
  expect(body.blocks[1]?.text.text).not.toMatch(/&(?!amp;|lt;|gt;)/);
});

test("e-mail goes to the addresses of the roles that a notice concerns, each its own message", async () => {
  const smtp = await smtpReceiver();
  const { store, start } = await desk({
    smtp: { url: smtp.url, from: FROM },
    channels: [
      {
        name: "mail",
        type: "email",
        roles: null,
        kinds: null,
        addresses: {
          controller: ["cora@acme.example", "carl@acme.example"],
          owner: ["olga@acme.example"],
        },
      },
    ],
  });
  await raiseNotice(store.db, notice({ subject: "3 bills\r\nBcc: thief@example.com" }));
  start();
  await until(
    () => smtp.mails,
    ({ length }) => length === 2,
  );
  expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual([
    "carl@acme.example",
    "cora@acme.example",
  ]);
  const [mail] = smtp.mails;
  expect(mail?.from).toBe("payrun@acme.example");
  expect(mail?.source).toContain("Subject: [acme] 3 bills Bcc: thief@example.com\r\n");
  expect(mail?.source).not.toMatch(/^Bcc:/m);
  expect(mail?.source).toMatch(/^Message-ID: <ntc_[0-9a-f-]+@acme\.example>\r$/im);
  expect(mail?.source).toContain("Decide by Thursday.");
});

test("where nobody listens for a notice's roles, everybody is told", async () => {
  const hook = await httpReceiver();
  const { store, start } = await desk(webhook(hook.url, { roles: ["owner"] }));
  await raiseNotice(store.db, notice({ roles: ["operator"] }));
  start();
  await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
});

test("a business without channels is told nothing, and that is no fault", async () => {
  const { store, start } = await desk(undefined);
  await raiseNotice(store.db, notice());
  start();
  await until(
    () => listNotices(store.db, { limit: 1 }),
    ([only]) => only?.routedAtMs !== null,
  );
  expect(await countUndelivered(store.db)).toEqual({ undeliverable: 0, retrying: 0, unrouted: 0 });
});

test("a receiver that is down is tried again until it answers, under one id", async () => {
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

test("what nobody takes for a day is given up, shown, and sent when somebody asks again", async () => {
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

test("a receiver that is gone for good, and a mailbox that does not exist, are not tried again", async () => {
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

test("a password that the SMTP server refuses is told without it, and holds nobody else up", async () => {
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

test("a channel that hangs delays no other", async () => {
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

test("however much waits for a channel that hangs, others get theirs", async () => {
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

test("a service that never says where vendors want to be written to holds nothing up", async () => {
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

test("what a sender was killed over is sent by the next one, under the same id", async () => {
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
  // The dead one's claim runs out.
  advance(HOUR_MS);
  await until(
    async () => (await states(store)).join(),
    (all) => all === "sent 1,sent 1",
  );
  const ids = hook.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(2);
});

test("several senders deliver each notice once between them", async () => {
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
