import { definedOnly } from "../contracts/defined-only.ts";
import { visible } from "../domain/others-text.ts";
import type { Notice } from "../store/notices/notices.ts";

/** What a webhook receives (docs/notices.md). */
export interface WebhookPayload {
  readonly type: string;
  /** ISO instant at which the fact was recorded. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The business of a notice, and the address of the console's page about it. */
export interface About {
  readonly business: string;
  readonly page: string | undefined;
}

export function webhookPayload(notice: Notice, { business, page }: About): WebhookPayload {
  return {
    type: `payrun.${notice.kind.replaceAll("-", "_")}`,
    timestamp: new Date(notice.createdAtMs).toISOString(),
    data: {
      ...notice.data,
      noticeId: notice.noticeId,
      business,
      ...definedOnly({ runId: notice.runId ?? undefined }),
      roles: notice.roles,
      subject: notice.subject,
      text: notice.text,
      ...definedOnly({ url: page }),
    },
  };
}

/**
 * Slack limits a section to 3,000 characters; others that take its JSON have about the same limit.
 */
const SLACK_TEXT_MAX = 2_900;

/** Returns the JSON of Slack's incoming webhooks, which Mattermost and others understand too. */
export function slackMessage(notice: Notice, { business, page }: About): Record<string, unknown> {
  const title = escapeSlack(`${business}: ${notice.subject}`);
  const text = shortened(textBeside(notice, page));
  return {
    text: title,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      section(`*${title.replaceAll("*", "∗")}*`),
      ...(text === "" ? [] : [section(text)]),
      ...(page === undefined ? [] : [section(`<${page}|Open it in Payrun>`)]),
    ],
  };
}

/**
 * Returns the text; if a link leads to the page that decides, without the commands that do the
 * same.
 */
function textBeside({ text }: Notice, page: string | undefined): string {
  if (page === undefined) return text;
  return text
    .split("\n")
    .filter((line) => !/^(Look at it|Decide) with: payrun /.test(line))
    .join("\n");
}

/** Returns a verbatim section: Slack turns nothing of it into a link or a mention by itself. */
function section(text: string): Record<string, unknown> {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

const ZERO_WIDTH = "\u200b";

/** Escapes a text: a vendor's name must not become a link, a mention or a channel-wide alarm. */
function escapeSlack(text: string): string {
  return visible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/(?<![\w.+-])@(?=\w)/g, `@${ZERO_WIDTH}`)
    .replaceAll("](", `]${ZERO_WIDTH}(`);
}

/** Cuts the text before it is escaped, so that no escape sequence is cut in the middle. */
function shortened(text: string): string {
  for (let max = SLACK_TEXT_MAX; ; max = Math.floor(max / 2)) {
    const escaped = escapeSlack(cut(text, max));
    if (escaped.length <= SLACK_TEXT_MAX) return escaped;
  }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

export interface Email {
  readonly subject: string;
  readonly text: string;
  /** The same for every try, so that a mail that arrives twice shows as one. */
  readonly messageId: string;
  readonly replyTo?: string;
}

/** @param from the sender's address, whose domain becomes part of the message id */
export function emailOf(notice: Notice, { business, page }: About, from: string): Email {
  const domain = /@([^>\s]+)>?$/.exec(from)?.[1] ?? "payrun.invalid";
  const replyTo = notice.data["replyTo"];
  const isForVendor = notice.contactId !== null;
  return {
    subject: visible(isForVendor ? notice.subject : `[${business}] ${notice.subject}`),
    text: visible(
      `${[textBeside(notice, page), ...(page === undefined ? [] : [`Open it in Payrun: ${page}`])].join("\n\n")}\n`,
    ),
    messageId: `<${notice.noticeId}@${domain}>`,
    ...(isForVendor && typeof replyTo === "string" ? { replyTo } : {}),
  };
}
