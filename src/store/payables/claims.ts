import { LINE } from "../../contracts/line-states.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findAll } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import { rowMayStillPay } from "./open-subjects.ts";
import { asColumns } from "../sql/as-record.ts";

export interface ClaimResult {
  /** In the order of the request; includes what the owner held already. */
  readonly claimed: string[];
  readonly refused: { readonly payableId: string; readonly owner: string }[];
}

/**
 * Claims payables for one owner, except those that others hold.
 *
 * @param request.owner workflow id of a run or a retry
 */
export async function claimPayables(
  db: Db,
  request: {
    readonly businessId: string;
    readonly payableIds: readonly string[];
    readonly owner: string;
    readonly nowMs: number;
  },
): Promise<ClaimResult> {
  const { businessId, owner } = request;
  for (const ids of chunks(request.payableIds)) {
    await db
      .insertInto("claims")
      .values(
        ids.map((payableId) =>
          asColumns({ businessId, payableId, owner, claimedAtMs: request.nowMs }),
        ),
      )
      .onConflict((conflict) => conflict.columns(["business_id", "payable_id"]).doNothing())
      .execute();
  }
  const owners = await claimOwners(db, businessId, request.payableIds);
  const result: ClaimResult = { claimed: [], refused: [] };
  for (const payableId of new Set(request.payableIds)) {
    const holder = owners.get(payableId);
    if (holder === owner) result.claimed.push(payableId);
    // Its holder released it in between: it isn't ours either; the next run finds it free.
    else result.refused.push({ payableId, owner: holder ?? "" });
  }
  return result;
}

/** Returns all payables of a business that somebody has claimed. */
export async function claimedPayables(db: Db, businessId: string): Promise<ReadonlySet<string>> {
  const rows = await findAll(db, "claims", { businessId }, ["payable_id"]);
  return new Set(rows.map(({ payableId }) => payableId));
}

/**
 * Moves the claim of a payable from one owner to another, in one statement.
 *
 * @returns true if `to` owns it now, even if an earlier call did it; false if neither owned it, and
 * then nothing has changed
 */
export async function handOverClaim(
  db: Db,
  move: {
    readonly businessId: string;
    readonly payableId: string;
    readonly from: string;
    readonly to: string;
  },
): Promise<boolean> {
  const result = await db
    .updateTable("claims")
    .set({ owner: move.to })
    .where("business_id", "=", move.businessId)
    .where("payable_id", "=", move.payableId)
    .where("owner", "in", [move.from, move.to])
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Releases a payable; refuses while a request may still pay it, because another owner could then
 * pay what may have been paid already.
 *
 * @returns false if it was refused, or if `owner` doesn't hold it
 */
export async function releaseClaim(
  db: Db,
  claim: { readonly businessId: string; readonly payableId: string; readonly owner: string },
): Promise<boolean> {
  const result = await db
    .deleteFrom("claims")
    .where("business_id", "=", claim.businessId)
    .where("payable_id", "=", claim.payableId)
    .where("owner", "=", claim.owner)
    .where((eb) => eb.not(rowMayStillPay("claims")))
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/**
 * Releases a run's claims on payables whose lines have ended, parked ones included, and on payables
 * that its plan left out, so that the next run may plan them while this one goes on. A payable that
 * a request may still pay stays claimed.
 *
 * Must be called in each transaction that ends lines of a run.
 *
 * @returns how many were released
 */
export async function releaseEndedClaims(db: Db, runId: string): Promise<number> {
  const result = await db
    .deleteFrom("claims")
    .where("owner", "=", runId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("run_lines")
            .select("run_lines.payable_id")
            .where("run_lines.run_id", "=", runId)
            .whereRef("run_lines.payable_id", "=", "claims.payable_id")
            .where("run_lines.state", "not in", LINE.ended),
        ),
      ),
    )
    .where((eb) => eb.not(rowMayStillPay("claims")))
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Counts the payables that a run or a retry holds. */
export async function countClaims(db: Db, owner: string): Promise<number> {
  const row = await db
    .selectFrom("claims")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("owner", "=", owner)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Returns the holders of these payables; free ones are not in the map. */
export async function claimOwners(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const ids of chunks(payableIds)) {
    const rows = await db
      .selectFrom("claims")
      .select(["payable_id", "owner"])
      .where("business_id", "=", businessId)
      .where("payable_id", "in", idsIn(ids))
      .execute();
    for (const row of rows) owners.set(row.payable_id, row.owner);
  }
  return owners;
}
