import { expect, onTestFinished, test } from "vitest";
import type { NoticeChannel } from "../../src/config/business-profile.ts";
import { NoticeBody, NoticeListBody } from "../../src/api/notices.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import { httpReceiver, smtpReceiver } from "../notices/receivers.ts";
import { profile, startTestGateway } from "./support/gateway.ts";
import { planLine, seedRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";
import { until } from "../support/waits.ts";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;

test("a notice that reached nobody can be retried once a channel takes it", async () => {
  const hook = await httpReceiver();
  const channels: NoticeChannel[] = [];
  const gateway = await startTestGateway({ profiles: [profile({ notify: { channels } })] });
  onTestFinished(() => gateway.stop());
  const operator = await gateway.token("otto", ["operator"]);
  await raiseNotice(gateway.store.db, {
    ...{ businessId: "biz_acme", kind: "approval-needed", factKey: "fact", runId: "run_1" },
    ...{ subject: "1 bill waits", text: "", roles: ["controller"], data: {}, nowMs: Date.now() },
  });
  const listed = async () =>
    NoticeListBody.parse((await gateway.call("GET", "/v1/notices", operator)).json).items[0];
  const lost = await until(listed, (notice) => notice?.state === "nobody");
  const retry = ["notices", "--retry", lost?.id ?? ""];
  expect(await typed(gateway, operator, retry)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/No channel of acme takes approval-needed.*notify:.*try again/),
  });
  const all = { secrets: [SECRET], roles: null, kinds: null };
  channels.push({ name: "ops", type: "webhook", url: hook.url, ...all });
  expect((await typed(gateway, operator, retry)).stdout).toContain("trying again: 1 bill waits");
  await until(listed, (notice) => notice?.state === "sent");
  expect((await typed(gateway, operator, retry)).stdout).toContain("has reached everybody already");
});

test("undelivered notices are in the list, status and metrics, and can be retried", async () => {
  const hook = await httpReceiver();
  hook.answer = { status: 410 };
  const smtp = await smtpReceiver();
  smtp.unknown.add("carl@acme.example");
  const channels: NoticeChannel[] = [
    { name: "ops", type: "webhook", url: hook.url, secrets: [SECRET], roles: null, kinds: null },
    {
      name: "mail",
      type: "email",
      addresses: { controller: ["cora@acme.example", "carl@acme.example"] },
      roles: null,
      kinds: null,
    },
  ];
  const from = "payrun@acme.example";
  const notify = { smtp: { url: smtp.url, from }, channels };
  const gateway = await startTestGateway({ profiles: [profile({ notify })] });
  onTestFinished(() => gateway.stop());
  const { runId } = await seedRun(gateway.store, { lines: [planLine("p1")] });
  const viewer = await gateway.token("vera", ["viewer"]);
  const operator = await gateway.token("otto", ["operator"]);
  await raiseNotice(gateway.store.db, {
    businessId: "biz_acme",
    kind: "approval-needed",
    factKey: "fact",
    subject: "1 bill waits for approval",
    text: "",
    roles: ["controller"],
    data: {},
    runId,
    nowMs: Date.now(),
  });

  const list = () => gateway.call("GET", "/v1/notices?undelivered=true", viewer);
  const given = await until(
    async () => NoticeListBody.parse((await list()).json).items[0],
    (notice) => notice?.deliveries.filter(({ state }) => state === "undeliverable").length === 2,
  );
  expect(given).toMatchObject({ business: "acme", state: "undeliverable", runId });
  expect(given?.deliveries.map(({ channel, to, state }) => [channel, to, state])).toEqual([
    ["mail", "c…@acme.example", "undeliverable"],
    ["mail", "c…@acme.example", "sent"],
    ["ops", null, "undeliverable"],
  ]);
  expect((await list()).text).not.toContain("carl@");
  const misspelt = await gateway.call("GET", "/v1/notices?kind=approval", viewer);
  expect([misspelt.status, misspelt.json["message"]]).toEqual([
    400,
    expect.stringMatching(/kind: must be one of approval-needed, .*, remittance$/),
  ]);

  const status = () => gateway.call("GET", `/v1/runs/${encodeURIComponent(runId)}`, viewer);
  expect((await status()).json["undelivered"]).toBe(2);
  const metrics = await gateway.call("GET", "/metrics", viewer);
  expect(metrics.text).toContain('payrun_notices_undelivered{why="undeliverable"} 2');

  const retry = `/v1/notices/${given?.id}/retry`;
  expect((await gateway.call("POST", retry, viewer)).status).toBe(403);
  hook.answer = { status: 200 };
  smtp.unknown.clear();
  const tried = await gateway.call("POST", retry, operator);
  expect(NoticeBody.parse(tried.json).state).toBe("pending");
  await until(
    async () => NoticeListBody.parse((await list()).json).items,
    (items) => items.length === 0,
  );
  expect((await status()).json["undelivered"]).toBeUndefined();
  const trail = await listAudit(gateway.store.db, {
    businessId: "biz_acme",
    subject: given?.id ?? "",
  });
  const retried = trail.filter(({ action }) => action.startsWith("notice."));
  expect(retried).toMatchObject([{ action: "notice.retried", actor: "otto" }]);
  expect((await gateway.call("POST", "/v1/notices/ntc_none/retry", operator)).status).toBe(404);
});
