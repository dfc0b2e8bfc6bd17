import type { Fact } from "../../domain/facts/fact.ts";
import { appendOfLines } from "../audit/audit-lines.ts";
import { appendAudit } from "../audit/audit.ts";
import { raiseNotice } from "../notices/notices.ts";
import type { Db } from "../sql/db.ts";
import { signalOnCommit } from "../signals/pending-signals.ts";

/**
 * Records what has come about, in the transaction that makes it so: its entry in the trail, its
 * notice to people and the signals to the workflows that it concerns are committed with it, or not
 * at all. Nothing else writes any of the three.
 *
 * @param trx a transaction of the store; its `db` will do for what has only a notice
 * @returns false if people had been notified of it before
 */
export async function record(trx: Db, fact: Fact): Promise<boolean> {
  const { businessId, nowMs, entry, notice, wakes } = fact;
  const isNews = notice === undefined || (await raiseNotice(trx, notice));
  if (fact.once === true && !isNews) return false;
  if (entry !== undefined) {
    const { of, ...own } = entry;
    if (of === undefined) await appendAudit(trx, { ...own, businessId, nowMs });
    else await appendOfLines(trx, { ...own, ...of, businessId, nowMs });
  }
  for (const wake of wakes) signalOnCommit(trx, businessId, wake);
  return isNews;
}
