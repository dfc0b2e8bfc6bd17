import { noticesForgotten } from "../../domain/facts/businesses.ts";
import { record } from "./record.ts";
import type { Transaction } from "kysely";
import { PAYRUN } from "../../contracts/authors.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { Tables } from "../schema/tables.ts";

/** The most notices that one transaction deletes. */
const AT_ONCE = 200;

/**
 * Deletes notices that every recipient got long ago; which facts they reported stays in the audit
 * trail. Keeps a notice that some recipient has not got, and one about a run that has not ended,
 * whose fact would otherwise be reported again.
 *
 * @param beforeMs real instant
 * @returns how many; call again while there are some
 */
export async function pruneNotices(
  trx: Transaction<Tables>,
  businessId: string,
  { beforeMs, nowMs }: { readonly beforeMs: number; readonly nowMs: number },
): Promise<number> {
  const old = await trx
    .selectFrom("notices")
    .select(["notice_id", "kind", "fact_key", "created_at_ms"])
    .where("business_id", "=", businessId)
    .where("created_at_ms", "<", beforeMs)
    .where("routed_at_ms", "is not", null)
    .where("route_problem", "is", null)
    .where((eb) =>
      eb.not(
        eb.or([
          eb.exists(
            eb
              .selectFrom("notice_deliveries")
              .select("notice_deliveries.delivery_id")
              .whereRef("notice_deliveries.notice_id", "=", "notices.notice_id")
              .where("notice_deliveries.state", "!=", "sent"),
          ),
          eb.exists(
            eb
              .selectFrom("runs")
              .select("runs.run_id")
              .whereRef("runs.run_id", "=", "notices.run_id")
              .where("runs.phase", "not in", ENDED_PHASES),
          ),
        ]),
      ),
    )
    .orderBy("created_at_ms")
    .orderBy("notice_id")
    .limit(AT_ONCE)
    .execute();
  if (old.length === 0) return 0;
  const ids = old.map((row) => row.notice_id);
  await trx.deleteFrom("notice_deliveries").where("notice_id", "in", ids).execute();
  await trx.deleteFrom("notice_facts").where("notice_id", "in", ids).execute();
  await trx.deleteFrom("notices").where("notice_id", "in", ids).execute();
  const head = { businessId, nowMs, by: PAYRUN, subject: businessId };
  const told = old.map((row) => ({
    kind: row.kind,
    fact: row.fact_key,
    at: new Date(row.created_at_ms).toISOString(),
  }));
  await record(trx, noticesForgotten(head, { told }));
  return ids.length;
}
