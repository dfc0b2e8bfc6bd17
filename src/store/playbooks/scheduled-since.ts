import type { Db } from "../sql/db.ts";
import { playbookRevisions, type StoredPlaybook } from "./playbooks.ts";
import { scheduleWish } from "./schedule-wishes.ts";

/** Returns when a playbook got its present schedule, in real time. */
export async function scheduledSinceMs(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string },
  stored: Pick<StoredPlaybook, "business" | "name" | "compiled">,
): Promise<number> {
  const timesOf = ({ schedule }: StoredPlaybook["compiled"]): string =>
    JSON.stringify(schedule === null ? null : { ...schedule, catchUpDays: 0 });
  const revisions = await playbookRevisions(db, stored);
  const other = revisions.findIndex(
    (revision) => timesOf(revision.compiled) !== timesOf(stored.compiled),
  );
  const first = other === -1 ? revisions.at(-1) : revisions[other - 1];
  const { madeAgainMs } = await scheduleWish(db, of);
  return Math.max(first?.createdAtMs ?? 0, madeAgainMs ?? 0);
}
