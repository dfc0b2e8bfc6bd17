import { listAudit } from "./audit.ts";
import type { Db } from "./db.ts";

/** What people have said last of a playbook's schedule; Temporal keeps the schedule itself. */
export interface ScheduleWish {
  /** True until the playbook is applied again. */
  readonly deleted: boolean;
  /** The note of the pause, or null where it isn't paused. */
  readonly pause: string | null;
}

/** Reads from the audit trail how a playbook's schedule should stand. */
export async function scheduleWish(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string },
): Promise<ScheduleWish> {
  let wish: ScheduleWish = { deleted: false, pause: null };
  const trail = await listAudit(db, { businessId: of.businessId, subject: of.playbook });
  for (const { action, actor, details } of trail) {
    if (action === "playbook.applied") wish = { ...wish, deleted: false };
    if (action === "schedule.deleted") wish = { deleted: true, pause: null };
    if (action === "schedule.resumed") wish = { ...wish, pause: null };
    if (action === "schedule.paused") {
      const { note } = details;
      wish = { ...wish, pause: `${actor}: ${typeof note === "string" ? note : "pause"}` };
    }
  }
  return wish;
}
