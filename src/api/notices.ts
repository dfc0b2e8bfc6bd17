import { z } from "@hono/zod-openapi";
import { moment } from "./moment.ts";
import type { Shown } from "./shown.ts";

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
    createdAt: z.string(),
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
        nextTryAt: z.string().nullable(),
        endedAt: z.string().nullable(),
      }),
    ),
  })
  .openapi("Notice");

export const NoticeListBody = z.object({ items: z.array(NoticeBody) });

export type Notice = Shown<typeof NoticeBody>;
