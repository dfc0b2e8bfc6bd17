import type { Db } from "../sql/db.ts";
import type { TopUp } from "./deposits.ts";

/**
 * True if as many people as its playbook asks for have approved exactly this deposit. Its decisions
 * and approvals are stored under its own name, so that they never count for a bill.
 */
export async function topUpApproved(
  db: Db,
  topUp: Pick<TopUp, "subject" | "hash" | "quorum">,
  businessNowMs: number,
): Promise<boolean> {
  const principals = await approversOfTopUp(db, topUp, businessNowMs);
  // Whatever a playbook says, nothing is deposited without one approval.
  return new Set(principals).size >= Math.max(1, topUp.quorum);
}

/** Returns who has approved exactly this deposit, by approvals that are valid now. */
export async function approversOfTopUp(
  db: Db,
  { subject, hash }: Pick<TopUp, "subject" | "hash">,
  businessNowMs: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom("line_approvals")
    .select("principal")
    .where("run_id", "=", subject)
    .where("payable_id", "=", subject)
    .where("line_hash", "=", hash)
    .where("expires_at_ms", ">", businessNowMs)
    .orderBy("principal")
    .execute();
  return rows.map(({ principal }) => principal);
}
