import { z } from "@hono/zod-openapi";
import { NOTICE_KINDS } from "../contracts/notices.ts";
import { moment } from "./moment.ts";
import type { Shown } from "./shown.ts";
import { instant } from "./times.ts";

const STATES =
  "sent, pending, undeliverable or nobody (no channel wants it, the vendor has no address)";

export const NoticeBody = z
  .object({
    id: z.string(),
    business: z.string().nullable(),
    kind: z.string(),
    runId: z.string().nullable(),
    subject: z.string(),
    text: z.string(),
    roles: z.array(z.string()).describe("Whom it concerns; empty for everyone"),
    createdAt: instant,
    zone: moment.zone,
    state: z.string().describe(STATES),
    problem: z.string().nullable().describe("Why a person can't be addressed"),
    deliveries: z.array(
      z.object({
        channel: z.string(),
        to: z.string().nullable().describe("An e-mail address, shortened"),
        state: z.string(),
        tries: z.int(),
        problem: z.string().nullable(),
        nextTryAt: instant.nullable(),
        endedAt: instant.nullable(),
      }),
    ),
  })
  .openapi("Notice");

/** A notice as the webhook of a channel receives it; each kind adds fields to `data`. */
export const NoticeMessageBody = z
  .object({
    type: z.enum(NOTICE_KINDS.map((kind) => `payrun.${kind.replaceAll("-", "_")}` as const)),
    timestamp: instant.describe("When the fact was recorded"),
    data: z.looseObject({
      noticeId: z.string(),
      business: z.string(),
      roles: z.array(z.string()).describe("Whom it concerns; empty for everyone"),
      subject: z.string(),
      text: z.string(),
      runId: z.string().optional(),
      url: z.string().optional().describe("The console's page about it"),
    }),
  })
  .openapi("NoticeMessage");

export const NoticeListBody = z.object({ items: z.array(NoticeBody) });

export type NoticeView = Shown<typeof NoticeBody>;
