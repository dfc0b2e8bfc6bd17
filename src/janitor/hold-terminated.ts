import type { Transaction } from "kysely";
import { holdOnce, type NewHold } from "../store/holds/holds.ts";
import type { Tables } from "../store/schema/tables.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { PAYRUN } from "../contracts/authors.ts";

/** Puts a terminated workflow's subject on hold, once, so that nothing more of it is sent. */
export async function holdTerminated(
  trx: Transaction<Tables>,
  hold: Pick<NewHold, "businessId" | "scope" | "value" | "reason">,
  closedAtMs: number,
): Promise<void> {
  // The instant is compared with Temporal's clock; this process's own may be minutes behind.
  const ours = { ...hold, author: PAYRUN, nowMs: await databaseNowMs(trx) };
  // Our holds have no end, so any instant of the business clock shows them.
  await holdOnce(trx, ours, { businessMs: 0, sinceMs: closedAtMs });
}
