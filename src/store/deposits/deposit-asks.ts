import type { ExpressionBuilder } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { type ClockInSql, clockAt } from "../sql/clocks.ts";
import type { Db } from "../sql/db.ts";

/**
 * True for a deposit of `top_ups` that a person must act on: it lacks an approval, it can't be
 * accounted for, or its money is late.
 */
export function isAskingDeposit({ ms, today }: ClockInSql) {
  return (eb: ExpressionBuilder<Tables, "top_ups">) =>
    eb.or([
      eb.and([eb("top_ups.state", "=", "on-its-way"), eb("top_ups.arrives_on", "<", today)]),
      eb.and([
        eb("top_ups.state", "in", ["proposed", "sending"]),
        eb("top_ups.reason_code", "=", "unclear"),
      ]),
      eb.and([
        eb("top_ups.state", "=", "proposed"),
        eb(
          "top_ups.quorum",
          ">",
          eb
            .selectFrom("line_approvals")
            .select((of) => of.fn.countAll<number>().as("given"))
            .whereRef("line_approvals.run_id", "=", "top_ups.subject")
            .whereRef("line_approvals.payable_id", "=", "top_ups.subject")
            .whereRef("line_approvals.line_hash", "=", "top_ups.hash")
            .where("line_approvals.expires_at_ms", ">", ms),
        ),
      ]),
    ]);
}

/** True if one of a workflow's deposits needs a person. */
export async function hasAskingDeposit(
  db: Db,
  owner: string,
  businessMs: number,
): Promise<boolean> {
  const row = await db
    .selectFrom("top_ups")
    .select("top_ups.subject")
    .where("top_ups.owner", "=", owner)
    .where(isAskingDeposit(clockAt(businessMs)))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
