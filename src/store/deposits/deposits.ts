import { byWorkflow } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import {
  MOVING_TOP_UP_STATES,
  OPEN_TOP_UP_STATES,
  type TopUpAccount,
  type TopUpState,
} from "../../contracts/deposit.ts";
import { sumCents } from "../../domain/money.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { appendAudit } from "../audit/audit.ts";
import { CENTS, type Db } from "../sql/db.ts";
import { findAll, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";
import { LINE } from "../../contracts/line-states.ts";

/** A requested deposit into a funding source. */
export interface TopUp extends Omit<
  RecordOf<"top_ups">,
  "bankAccountId" | "bankName" | "bankLast4" | "createdAtMs"
> {
  readonly account: TopUpAccount;
}

export type NewTopUp = Omit<
  TopUp,
  | "state"
  | "transactionId"
  | "reasonCode"
  | "reason"
  | "notBeforeMs"
  | "backOffSinceMs"
  | "pollAtMs"
  | "updatedAtMs"
> & { readonly nowMs: number };

export async function insertTopUp(
  trx: Transaction<Tables>,
  { nowMs, ...asked }: NewTopUp,
): Promise<TopUp> {
  const nothingSent = { state: "proposed" as const, notBeforeMs: 0, pollAtMs: 0 };
  const row = await trx
    .insertInto("top_ups")
    .values(columnsOf({ ...asked, ...nothingSent, createdAtMs: nowMs, updatedAtMs: nowMs }))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toTopUp(readerOf("top_ups")(row));
}

/** What was requested, as far as it may change before anything is sent. */
export type TopUpRequested = Pick<
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

function columnsOf<Changed extends TopUpRequested>({ account, ...asked }: Changed) {
  const { bankAccountId, name: bankName, last4: bankLast4 } = account;
  return asColumns({ ...asked, bankAccountId, bankName, bankLast4 });
}

/** Changes what was requested; only while nothing of it has been sent. */
export async function changeAsked(
  trx: Transaction<Tables>,
  topUp: TopUp,
  asked: TopUpRequested,
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable("top_ups")
    .set(
      columnsOf({
        ...asked,
        notBeforeMs: 0,
        backOffSinceMs: null,
        reason: null,
        updatedAtMs: nowMs,
      }),
    )
    .where("business_id", "=", topUp.businessId)
    .where("subject", "=", topUp.subject)
    .where("state", "=", "proposed")
    .execute();
}

export type TopUpChange = Partial<
  Pick<
    TopUp,
    | "state"
    | "transactionId"
    | "reasonCode"
    | "reason"
    | "notBeforeMs"
    | "backOffSinceMs"
    | "sinceMs"
    | "pollAtMs"
  >
>;

/**
 * Changes the state of a request.
 *
 * @returns false if it is no longer in one of `from`: another process has moved it on
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
    .set(asColumns({ ...change, updatedAtMs: nowMs }))
    .where("business_id", "=", topUp.businessId)
    .where("subject", "=", topUp.subject)
    .where("state", "in", from)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** What the trail records of a request. */
interface TopUpNote extends Readonly<Record<string, unknown>> {
  readonly action:
    | "proposed"
    | "changed"
    | "withdrawn"
    | "made"
    | "completed"
    | "failed"
    | "returned";
}

export async function noteTopUp(
  trx: Transaction<Tables>,
  { businessId, owner, subject }: TopUp,
  { action, ...details }: TopUpNote,
  nowMs: number,
): Promise<void> {
  const about = { businessId, nowMs, actor: byWorkflow(owner), subject };
  await appendAudit(trx, { ...about, action: `top-up.${action}`, details });
}

/** Changes a request as `changeTopUp` does, and records the change in the trail. */
export async function moveTopUp(
  trx: Transaction<Tables>,
  topUp: TopUp,
  from: readonly TopUpState[],
  change: TopUpChange,
  note: TopUpNote,
  nowMs: number,
): Promise<boolean> {
  const isMoved = await changeTopUp(trx, topUp, from, change, nowMs);
  if (isMoved) await noteTopUp(trx, topUp, note, nowMs);
  return isMoved;
}

/** Returns a request by its name in the ledger. */
export async function getTopUp(
  db: Db,
  businessId: string,
  subject: string,
): Promise<TopUp | undefined> {
  const found = await findOne(db, "top_ups", { businessId, subject });
  return found === undefined ? undefined : toTopUp(found);
}

/** Returns all requests of a workflow, first to last. */
export async function topUpsOf(db: Db, owner: string): Promise<TopUp[]> {
  return (await findAll(db, "top_ups", { owner }, ["request_no", "source_id"])).map(toTopUp);
}

/** Returns all requests that a run's playbook allowed: its own, and those of incidents. */
export async function topUpsUnder(db: Db, businessId: string, runId: string): Promise<TopUp[]> {
  const allowed = { businessId, policyRunId: runId };
  return (await findAll(db, "top_ups", allowed, ["subject"])).map(toTopUp);
}

/** Returns all requests of a business. */
export async function topUpsOfBusiness(db: Db, businessId: string): Promise<TopUp[]> {
  return (await findAll(db, "top_ups", { businessId }, ["subject"])).map(toTopUp);
}

/** Returns the requests of a business for which nothing has been sent. */
export async function proposedTopUps(db: Db, businessId: string): Promise<TopUp[]> {
  return (await findAll(db, "top_ups", { businessId, state: "proposed" }, ["subject"])).map(
    toTopUp,
  );
}

/**
 * Returns the requests of a workflow that may still lead to a deposit: one for each funding source.
 */
export async function openTopUpsOf(db: Db, owner: string): Promise<TopUp[]> {
  const all = await topUpsOf(db, owner);
  return all.filter(({ state }) => OPEN_TOP_UP_STATES.includes(state));
}

/** Sums a run's bills without money, by execution date. */
export async function unfundedByDate(
  db: Db,
  runId: string,
  sourceId: string,
): Promise<{ readonly date: string; readonly cents: number }[]> {
  return db
    .selectFrom("run_lines")
    .select(["execution_date as date", CENTS])
    .where("run_id", "=", runId)
    .where("source_id", "=", sourceId)
    .where("state", "in", LINE.holdable)
    .where("funded", "=", 0)
    .groupBy("execution_date")
    .orderBy("execution_date")
    .execute();
}

/**
 * Returns what deposits of others leave for us: the money on its way, less the bills without money
 * that it is for; below zero if those bills need more.
 *
 * So a shortage is made good once: what another deposit will bring is not requested again, and what
 * another run counts on besides its own deposit is not counted on twice.
 *
 * @param readAtMs real instant at which the available balance was read
 * @returns `moved`: one of them has changed since, so that balance may or may not include its money
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

/** Returns how much money a workflow's own deposits will bring. */
export async function ownOnItsWayCents(db: Db, sourceId: string, owner: string): Promise<number> {
  const moving = (await topUpsOf(db, owner)).filter(
    (each) => each.sourceId === sourceId && MOVING_TOP_UP_STATES.includes(each.state),
  );
  return sumCents(moving.map(({ amountCents }) => amountCents));
}

export function toTopUp(record: RecordOf<"top_ups">): TopUp {
  const { bankAccountId, bankName: name, bankLast4: last4, createdAtMs: _, ...topUp } = record;
  return { ...topUp, account: { bankAccountId, name, last4 } };
}
