import { listAudit } from "./audit.ts";
import type { Db } from "./db.ts";

/** What people have said last of a playbook's schedule; Temporal keeps the schedule itself. */
export interface ScheduleWish {
  /** True until the playbook is applied again. */
  readonly deleted: boolean;
  /** The note of the pause, or null where it isn't paused. */
  readonly pause: string | null;
  /** When it was applied again after it had been deleted, the last time; null for never. */
  readonly madeAgainMs: number | null;
  /** When it was resumed the last time; null for never. */
  readonly resumedMs: number | null;
}

/** Reads from the audit trail how a playbook's schedule should stand. */
export async function scheduleWish(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string },
): Promise<ScheduleWish> {
  let wish: ScheduleWish = {
    deleted: false,
    pause: null,
    madeAgainMs: null,
    resumedMs: null,
  };
  const trail = await listAudit(db, { businessId: of.businessId, subject: of.playbook });
  for (const { action, actor, details, atMs } of trail) {
    if (action === "playbook.applied" && wish.deleted) {
      wish = { ...wish, deleted: false, madeAgainMs: atMs };
    }
    if (action === "schedule.deleted") wish = { ...wish, deleted: true, pause: null };
    if (action === "schedule.resumed") wish = { ...wish, pause: null, resumedMs: atMs };
    if (action === "schedule.paused") {
      const { note } = details;
      wish = { ...wish, pause: `${actor}: ${typeof note === "string" ? note : "pause"}` };
    }
  }
  return wish;
}
