import { listAudit } from "../audit/audit.ts";
import type { Db } from "../sql/db.ts";

/** Whose schedule, and of which playbook. */
export interface OfSchedule {
  readonly businessId: string;
  readonly playbook: string;
}

/** What people have last wanted of a playbook's schedule; Temporal keeps the schedule itself. */
export interface ScheduleWish {
  /** True until the playbook is applied again. */
  readonly deleted: boolean;
  /** The note of the pause; null if it isn't paused. */
  readonly pause: string | null;
  /** When it was last applied again after it had been deleted; null for never. */
  readonly madeAgainMs: number | null;
  /** When it was last resumed; null for never. */
  readonly resumedMs: number | null;
}

/** Reads from the audit trail what state a playbook's schedule should be in. */
export async function scheduleWish(db: Db, of: OfSchedule): Promise<ScheduleWish> {
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

/**
 * Returns what a sandbox's clock showed when a playbook was applied.
 *
 * @param atMs the real instant of it
 * @returns undefined if it was not applied at that instant, or the clock couldn't be read
 */
export async function appliedOnSandboxMs(
  db: Db,
  of: OfSchedule,
  atMs: number,
): Promise<number | undefined> {
  const trail = await listAudit(db, { businessId: of.businessId, subject: of.playbook });
  const applied = trail.find(
    (entry) => entry.action === "playbook.applied" && entry.atMs === Math.floor(atMs),
  );
  const shown = applied?.details["sandboxTime"];
  return typeof shown === "string" ? Date.parse(shown) : undefined;
}
