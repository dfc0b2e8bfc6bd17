import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import type { NoticeChannel } from "../../src/config/business-profile.ts";
import { countUndelivered } from "../../src/store/notices/notice-deliveries.ts";
import { listNotices, raiseNotice } from "../../src/store/notices/notices.ts";
import { FROM, SECRET, states, webhook } from "./channels.ts";
import { httpReceiver, smtpReceiver } from "./receivers.ts";
import { desk, notice } from "./support.ts";
import { startProxy, useProxies } from "../support/proxy.ts";
import { until } from "../support/waits.ts";

const OLD_SECRET = `whsec_${Buffer.from("another secret that is going out").toString("base64")}`;

test("a webhook carries the notice, signed by Standard Webhooks with every valid secret", async () => {
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
        url: "https://payrun.example/runs/pay-run%2Facme%2Fweekly%2F2026-11-05",
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

test("Slack gets its own JSON, in which a vendor's name can't mention everyone or become a link", async () => {
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
  expect(body).toMatchObject({ unfurl_links: false, blocks: [{}, {}, {}] });
  const [page, ...said] = body.blocks.map((block) => block.text.text).toReversed();
  expect(page).toBe("<https://payrun.example/needs-action|Open it in Payrun>");
  for (const shown of [body.text, ...said]) {
    expect(shown).toContain('Acme &lt;!channel&gt; &amp; "Sons"');
    expect(shown).not.toMatch(/[<>]|\]\(|(^|\s)@\w/);
    expect(shown.length).toBeLessThanOrEqual(3_000);
  }
  expect(body.blocks.map((block) => block.text.verbatim)).toEqual([true, true, true]);
  expect(body.blocks[1]?.text.text).toContain("cora@acme.example");
  expect(body.blocks[1]?.text.text).not.toMatch(/&(?!amp;|lt;|gt;)/);
});

test("e-mail goes to the addresses of the notice's roles, as one message each", async () => {
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
  const runId = "pay-run/acme/weekly/2026-11-05";
  await raiseNotice(store.db, notice({ runId, subject: "3 bills\r\nBcc: thief@example.com" }));
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
  expect(mail?.source.replaceAll(/=\r\n/g, "")).toContain(
    "https://payrun.example/runs/pay-run%2Facme%2Fweekly%2F2026-11-05",
  );
});

test("if no channel takes a notice's roles, every channel gets it", async () => {
  const hook = await httpReceiver();
  const { store, start } = await desk(webhook(hook.url, { roles: ["owner"] }));
  await raiseNotice(store.db, notice({ roles: ["operator"] }));
  start();
  await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
});

test("a business without channels gets no notices, and that is no error", async () => {
  const { store, start } = await desk(undefined);
  await raiseNotice(store.db, notice());
  start();
  await until(
    () => listNotices(store.db, { limit: 1 }),
    ([only]) => only?.routedAtMs !== null,
  );
  expect(await countUndelivered(store.db)).toEqual({ undeliverable: 0, retrying: 0, unrouted: 0 });
});

test("Slack and webhooks elsewhere are reached through the environment's proxy", async () => {
  const hook = await httpReceiver();
  const port = Number(new URL(hook.url).port);
  const proxy = await startProxy({ "hooks.example:80": port });
  useProxies({ http_proxy: proxy.url, HTTPS_PROXY: proxy.url });
  const slack = {
    name: "s",
    type: "slack",
    url: "https://slack.example/x",
    roles: null,
    kinds: null,
  };
  const { channels } = webhook("http://hooks.example/payrun");
  const { store, start } = await desk({ channels: [...channels, slack as NoticeChannel] });
  await raiseNotice(store.db, notice({}));
  start();
  await until(
    () => proxy.asked,
    (asked) => new Set(asked).size === 2,
  );
  const asked = ["POST http://hooks.example/payrun", "CONNECT slack.example:443"];
  expect(new Set(proxy.asked)).toEqual(new Set(asked));
  await until(
    () => hook.received,
    ({ length }) => length === 1,
  );
});
