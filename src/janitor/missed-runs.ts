import { runMissed } from "../domain/facts/playbooks.ts";
import { record } from "../store/facts/record.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { runsNotStarted } from "../store/runs/not-started.ts";
import type { JanitorContext } from "./context.ts";

/** A run that was missed longer ago is history. */
const TOLD_WITHIN_DAYS = 31;

/**
 * Notifies operators, once each, of runs that their schedules should have begun and don't begin any
 * more: Temporal wakes no launcher for them, so nothing else would say so.
 */
export async function notifyOfMissedRuns(
  { store, log }: Pick<JanitorContext, "store" | "log">,
  profile: BusinessProfile,
  nowMs = Date.now(),
): Promise<void> {
  const { businessId, name: business } = profile;
  const late = await runsNotStarted(store.db, profile, {
    nowMs,
    days: TOLD_WITHIN_DAYS,
    everyMissed: true,
  });
  for (const run of late.filter(({ isMissed }) => isMissed)) {
    const { playbook, period } = run;
    const isNews = await store.transactionOf(businessId, (trx) =>
      record(trx, runMissed({ businessId, nowMs }, run)),
    );
    if (isNews) log.warn("a scheduled run was missed", { business, playbook, period });
  }
}
