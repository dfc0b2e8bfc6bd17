import { z } from "zod";

const notice = z.looseObject({
  id: z.string(),
  kind: z.string(),
  subject: z.string(),
  createdAt: z.string(),
  state: z.string(),
  problem: z.string().nullable(),
  deliveries: z.array(
    z.looseObject({
      channel: z.string(),
      state: z.string(),
      tries: z.int(),
      problem: z.string().nullable(),
    }),
  ),
});

export type Notice = z.infer<typeof notice>;

/** A notice as the gateway shows it. */
export const noticeAnswer = notice;

export const noticeList = z.object({ items: z.array(notice) });
