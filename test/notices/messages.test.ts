import { expect, test } from "vitest";
import { emailOf, slackMessage } from "../../src/notices/messages.ts";
import type { Notice } from "../../src/store/notices/notices.ts";

const notice = {
  ...{ noticeId: "ntc_1", subject: "3 bills wait for approval", contactId: null, data: {} },
  text: "Decide by Thursday.\nLook at it with: payrun show RUN\nDecide with: payrun approve RUN",
} as unknown as Notice;

test("a message that links to the page for deciding names no command for it", () => {
  const page = "https://payrun.example/runs/1";
  const linked = { business: "acme", page };
  const unlinked = { business: "acme", page: undefined };
  const slack = (about: typeof linked | typeof unlinked) =>
    JSON.stringify(slackMessage(notice, about));
  expect(slack(linked)).toContain(page);
  expect(slack(linked)).toContain("Decide by Thursday.");
  expect(slack(linked)).not.toContain("payrun show");
  expect(slack(unlinked)).toContain("payrun show");
  expect(emailOf(notice, linked, "payrun@acme.example").text).not.toContain("payrun approve");
  expect(emailOf(notice, unlinked, "payrun@acme.example").text).toContain("payrun approve");
});
