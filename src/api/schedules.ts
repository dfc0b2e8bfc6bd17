import { z } from "@hono/zod-openapi";
import { planOnly } from "./report.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

export const ScheduleBody = z.object({
  playbook: z.string(),
  business: z.string(),
  state: z.enum(["active", "paused", "missing", "differs"]),
  deleted: z
    .literal(true)
    .optional()
    .describe("If it was deleted: it begins nothing until its playbook is applied again"),
  planOnly,
  paused: z.boolean().describe("If it is missing: whether it will be once it is made again"),
  note: z.string().nullable(),
  zone: z.string(),
  next: z
    .array(z.object({ period: z.string(), beginsAt: instant, payDate: day }))
    .describe(
      "On a sandbox: begun in real time, period and pay date by the sandbox's clock; empty while that can't be read",
    ),
});
export const ScheduleListBody = z.object({
  items: z.array(ScheduleBody),
  problems: z
    .array(z.object({ playbook: z.string(), business: z.string(), message: z.string() }))
    .describe("Playbooks whose business is not configured any more"),
});

export const DeletedScheduleBody = z.object({ playbook: z.string() });

/** Runs that were launched or joined. */
export const BackfillBody = z.object({
  items: z.array(z.object({ period: z.string(), id: z.string(), created: z.boolean() })),
});

export type Schedule = Shown<typeof ScheduleBody>;
