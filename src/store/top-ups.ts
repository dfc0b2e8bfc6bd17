import type { Selectable, Transaction } from "kysely";
import {
  MOVING_TOP_UP_STATES,
  OPEN_TOP_UP_STATES,
  type TopUpAccount,
  type TopUpState,
  type TopUpTerms,
} from "../contracts/top-up.ts";
import type { Db } from "./db.ts";
import type { Tables } from "./tables.ts";
import type { TopUpsTable } from "./top-up-tables.ts";

/** A deposit into a funding source, as somebody has asked for it. */
export interface TopUp extends TopUpTerms {
  readonly businessId: string;
  /** Its name in the attempt ledger; decisions and approvals of it stand under this name too. */
  readonly subject: string;
  readonly business: string;
  readonly sourceId: string;
  /** Workflow that needs the money. */
  readonly owner: string;
  readonly requestNo: number;
  /** Run whose playbook allows it. */
  readonly policyRunId: string;
  readonly state: TopUpState;
  readonly account: TopUpAccount;
  readonly planHash: string;
  /** What an approval of it names. */
  readonly hash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly transactionId: string | null;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  /** Service-clock instant. */
  readonly notBeforeMs: number;
  /** Business-clock instant of its last change. */
  readonly sinceMs: number;
  /** Business-clock instant. */
  readonly pollAtMs: number;
  /** Real time. */
  readonly updatedAtMs: number;
}

export type NewTopUp = Omit<
  TopUp,
  "state" | "transactionId" | "reasonCode" | "reason" | "notBeforeMs" | "pollAtMs" | "updatedAtMs"
> & { readonly nowMs: number };

export async function insertTopUp(trx: Transaction<Tables>, topUp: NewTopUp): Promise<TopUp> {
  const row = await trx
    .insertInto("top_ups")
    .values({
      business_id: topUp.businessId,
      subject: topUp.subject,
      business: topUp.business,
      source_id: topUp.sourceId,
      owner: topUp.owner,
      request_no: topUp.requestNo,
      policy_run: topUp.policyRunId,
      state: "proposed",
      ...columnsOf(topUp),
      reason_code: null,
      reason: null,
      not_before_ms: 0,
      since_ms: Math.floor(topUp.sinceMs),
      poll_at_ms: 0,
      created_at_ms: topUp.nowMs,
      updated_at_ms: topUp.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toTopUp(row);
}

/** What is asked for, as far as it may change before anything is sent. */
export type Asked = Pick<
  TopUp,
  | "amountCents"
  | "neededOn"
  | "makeBy"
  | "arrivesOn"
  | "late"
  | "account"
  | "planHash"
  | "hash"
  | "approvers"
  | "quorum"
>;

function columnsOf(asked: Asked) {
  return {
    amount_cents: asked.amountCents,
    needed_on: asked.neededOn,
    make_by: asked.makeBy,
    arrives_on: asked.arrivesOn,
    late: asked.late ? 1 : 0,
    bank_account_id: asked.account.bankAccountId,
    bank_name: asked.account.name,
    bank_last4: asked.account.last4,
    plan_hash: asked.planHash,
    hash: asked.hash,
    approvers: JSON.stringify(asked.approvers),
    quorum: asked.quorum,
  };
}

/** Changes what is asked for; only while nothing of it has been sent. */
export async function changeAsked(
  trx: Transaction<Tables>,
  topUp: TopUp,
  asked: Asked,
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable("top_ups")
    .set({ ...columnsOf(asked), not_before_ms: 0, reason: null, updated_at_ms: nowMs })
    .where("business_id", "=", topUp.businessId)
    .where("subject", "=", topUp.subject)
    .where("state", "=", "proposed")
    .execute();
}

export interface TopUpChange {
  readonly state?: TopUpState;
  readonly transactionId?: string;
  readonly reasonCode?: string | null;
  readonly reason?: string | null;
  readonly notBeforeMs?: number;
  readonly sinceMs?: number;
  readonly pollAtMs?: number;
}

/**
 * Changes where a request stands.
 *
 * @returns false where it is not in one of `from` any more: somebody else has moved it on
 */
export async function changeTopUp(
  trx: Transaction<Tables>,
  topUp: Pick<TopUp, "businessId" | "subject">,
  from: readonly TopUpState[],
  change: TopUpChange,
  nowMs: number,
): Promise<boolean> {
  const result = await trx
    .updateTable("top_ups")
    .set({
      updated_at_ms: nowMs,
      ...(change.state === undefined ? {} : { state: change.state }),
      ...(change.transactionId === undefined ? {} : { transaction_id: change.transactionId }),
      ...(change.reasonCode === undefined ? {} : { reason_code: change.reasonCode }),
      ...(change.reason === undefined ? {} : { reason: change.reason }),
      ...(change.notBeforeMs === undefined
        ? {}
        : { not_before_ms: Math.floor(change.notBeforeMs) }),
      ...(change.sinceMs === undefined ? {} : { since_ms: Math.floor(change.sinceMs) }),
      ...(change.pollAtMs === undefined ? {} : { poll_at_ms: Math.floor(change.pollAtMs) }),
    })
    .where("business_id", "=", topUp.businessId)
    .where("subject", "=", topUp.subject)
    .where("state", "in", from)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** All requests of a workflow, first to last. */
export async function topUpsOf(db: Db, owner: string): Promise<TopUp[]> {
  const rows = await db
    .selectFrom("top_ups")
    .selectAll()
    .where("owner", "=", owner)
    .orderBy("request_no")
    .orderBy("source_id")
    .execute();
  return rows.map(toTopUp);
}

/** All requests that a run's playbook allowed: its own, and those of incidents. */
export async function topUpsUnder(db: Db, businessId: string, runId: string): Promise<TopUp[]> {
  const rows = await db
    .selectFrom("top_ups")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("policy_run", "=", runId)
    .orderBy("subject")
    .execute();
  return rows.map(toTopUp);
}

/** Requests of a workflow that may still come to a deposit: one for each funding source. */
export async function openTopUpsOf(db: Db, owner: string): Promise<TopUp[]> {
  const all = await topUpsOf(db, owner);
  return all.filter(({ state }) => OPEN_TOP_UP_STATES.includes(state));
}

/** Lines whose money has not been found. */
export const WITHOUT_MONEY = ["awaiting-approval", "planned"];

/** What a run's bills without money come to, by execution date. */
export async function unfundedByDate(
  db: Db,
  runId: string,
  sourceId: string,
): Promise<{ readonly date: string; readonly cents: number }[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select((eb) => ["execution_date", eb.fn.sum<number>("amount_cents").as("cents")])
    .where("run_id", "=", runId)
    .where("source_id", "=", sourceId)
    .where("state", "in", WITHOUT_MONEY)
    .where("funded", "=", 0)
    .groupBy("execution_date")
    .orderBy("execution_date")
    .execute();
  return rows.map((row) => ({ date: row.execution_date, cents: Number(row.cents) }));
}

/**
 * What deposits of others leave of themselves to us, below zero where they need more than that:
 * the money on its way, less the bills without money that it is for.
 *
 * So a shortage is made good once: what another deposit will bring is not asked for again, and
 * what another run counts on beside its own deposit is not counted on twice.
 *
 * @param readAtMs real instant at which what is available was read
 * @returns `moved`: one of them has changed since, so that figure may have its money or not
 */
export async function leftOfOthersCents(
  db: Db,
  source: { readonly businessId: string; readonly sourceId: string },
  owner: string,
  readAtMs: number,
): Promise<{ readonly cents: number; readonly moved: boolean }> {
  const others = await db
    .selectFrom("top_ups")
    .select(["owner", "amount_cents", "state", "updated_at_ms"])
    .where("business_id", "=", source.businessId)
    .where("source_id", "=", source.sourceId)
    .where("owner", "!=", owner)
    .where((eb) =>
      eb.or([eb("state", "in", MOVING_TOP_UP_STATES), eb("updated_at_ms", ">=", readAtMs)]),
    )
    .execute();
  let cents = 0;
  let moved = false;
  for (const other of others) {
    const isMoving = MOVING_TOP_UP_STATES.some((state) => state === other.state);
    if (other.state !== "proposed" && other.updated_at_ms >= readAtMs) moved = true;
    if (!isMoving) continue;
    const needs = await unfundedByDate(db, other.owner, source.sourceId);
    cents += other.amount_cents - needs.reduce((sum, need) => sum + need.cents, 0);
  }
  return { cents, moved };
}

export function toTopUp(row: Selectable<TopUpsTable>): TopUp {
  return {
    businessId: row.business_id,
    subject: row.subject,
    business: row.business,
    sourceId: row.source_id,
    owner: row.owner,
    requestNo: row.request_no,
    policyRunId: row.policy_run,
    state: row.state as TopUpState,
    amountCents: row.amount_cents,
    neededOn: row.needed_on,
    makeBy: row.make_by,
    arrivesOn: row.arrives_on,
    late: row.late === 1,
    account: { bankAccountId: row.bank_account_id, name: row.bank_name, last4: row.bank_last4 },
    planHash: row.plan_hash,
    hash: row.hash,
    approvers: JSON.parse(row.approvers) as string[],
    quorum: row.quorum,
    transactionId: row.transaction_id,
    reasonCode: row.reason_code,
    reason: row.reason,
    notBeforeMs: row.not_before_ms,
    sinceMs: row.since_ms,
    pollAtMs: row.poll_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
