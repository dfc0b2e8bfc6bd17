import { expect } from "vitest";
import { inMarkdown, inMarkdownCode, isolated, visible } from "../../src/domain/others-text.ts";
import { timerText } from "../../src/domain/history-texts.ts";
import { visibleInColors } from "../../src/cli/terminal/text.ts";
import { emailOf, slackMessage } from "../../src/notices/messages.ts";
import type { Notice } from "../../src/store/notices/notices.ts";
import { signedIn } from "../console/support/visits.ts";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";

const ESC = String.fromCodePoint(27);
/** Turns what follows around. */
const OVERRIDE = String.fromCodePoint(0x202e);
const ISOLATE = String.fromCodePoint(0x2068);
const LINES = [0x2028, 0x2029].map((code) => String.fromCodePoint(code));
const NAME = `Acme ${OVERRIDE}dekcatta${ESC}[2J${LINES.join("")}`;
const HARMFUL = [OVERRIDE, ESC, ...LINES];

const test = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) =>
    seedRun(gateway.store, {
      launchedBy: "lou",
      author: "eve",
      lines: [planLine("p1", { contactName: NAME }), planLine("p2", { contactName: "אבג" })],
    }),
  )
  .extend("olga", ({ gateway }) => signedIn(gateway, "olga", ["operator", "admin"]));

test("a vendor's name changes no other text of a page or a table, and nothing in it is invisible", async ({
  gateway,
  run,
  olga,
}) => {
  const page = await (await olga.browser.get(`/runs/${encodeURIComponent(run.runId)}`)).text();
  expect(page).toContain("Acme ·dekcatta·[2J");
  expect(page).toContain(`${ISOLATE}אבג`);
  const viewer = await gateway.token("vera", ["viewer"]);
  const path = `/v1/runs/${encodeURIComponent(run.runId)}/report?format=csv`;
  const headers = { authorization: `Bearer ${viewer}` };
  const csv = await (await fetch(`${gateway.url}${path}`, { headers })).text();
  expect(csv).toContain("Acme ·dekcatta·[2J");
  for (const text of [page, csv]) {
    for (const mark of HARMFUL) expect(text).not.toContain(mark);
  }
});

test("a vendor's name is clean in the question whether its account is still right, too", async ({
  gateway,
  run,
}) => {
  await gateway.store.db
    .updateTable("run_lines")
    .set({ record_asked: "2026-11-28T03:00:00.000Z", record_asked_at_ms: 1 })
    .set({ reason_code: "changed_record", reason: `The record was changed: ${NAME}.` })
    .execute();
  const cora = await signedIn(gateway, "cora", ["controller", "owner"]);
  const page = await (await cora.browser.get(`/runs/${encodeURIComponent(run.runId)}`)).text();
  const question = page.split("Is the account still right?")[1]?.split("</section>")[0];
  expect(question).toContain("Acme ·dekcatta·[2J");
  expect(question).toContain(`${ISOLATE}אבג`);
  for (const mark of HARMFUL) expect(page).not.toContain(mark);
});

test("a vendor's name is no instruction to a terminal, a mail or a Slack message", () => {
  const notice = {
    ...{ noticeId: "ntc_1", kind: "parked", data: {}, contactId: null, runId: null },
    ...{ subject: `1 bill of ${NAME}`, text: `${NAME}\nDecide.` },
  } as unknown as Notice;
  const about = { business: "acme", page: undefined };
  const mail = emailOf(notice, about, "Payrun <payrun@acme.example>");
  const shown = [
    visibleInColors(`${ESC}[31mred${ESC}[0m ${NAME}`)
      .replaceAll(`${ESC}[31m`, "")
      .replace(`${ESC}[0m`, ""),
    mail.subject,
    mail.text,
    JSON.stringify(slackMessage(notice, about)),
  ];
  for (const text of shown) {
    expect(text).toContain("Acme ·dekcatta·[2J");
    for (const mark of HARMFUL) expect(text).not.toContain(mark);
  }
  expect(mail.text).toContain("\nDecide.");
});

test.for([
  "![x](https://evil.example/p.png)",
  "[Pay here](https://evil.example)",
  "<https://evil.example>",
  "https://evil.example",
  "www.evil.example",
  "a@evil.example",
  "`code` **bold** _it_ ~no~ | cell | \n# Heading\n- item",
])("a vendor called %j formats nothing and links nowhere in Temporal's UI", (name) => {
  const codeless = (text: string) => text.replaceAll(/`[^`]*`/g, "");
  const text = inMarkdown(name);
  expect(text).not.toContain("\n");
  expect(codeless(text)).not.toMatch(/(?<!\\)[[\]<>`*_|~]|^#|:\/\/|www\.|@\w/);
  const summary = timerText({ soFar: "", waitingFor: `1 bill of ${name}` });
  expect(codeless(summary)).not.toMatch(/:\/\/|(?<!\\)[[<]/);
  expect(inMarkdownCode(name)).not.toMatch(/[`\n]/);
});

test("ordinary names stay as they are", () => {
  for (const name of [
    "Zoë & Söhne GmbH",
    "Nguyễn Văn A",
    "株式会社サンプル",
    "محمد",
    "Ó Briain, Inc. (US)",
  ]) {
    expect(visible(name)).toBe(name);
  }
  expect(isolated("Acme")).toBe("Acme");
});
