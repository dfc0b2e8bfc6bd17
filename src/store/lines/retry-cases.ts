import type { IncidentBill } from "../../contracts/incident.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { COUNT, type Db, sumOfCents } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";
import { deleteRecords, findAll, findEach, findOne } from "../sql/records.ts";
import { isPaidHere } from "../payables/external-payments.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { LINE } from "../../contracts/line-states.ts";

/** The rule for a failed payable, as the playbook had it when the payment failed. */
export type RetryCaseRule = RecordOf<"retry_cases">;

export function getRetryCase(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<RetryCaseRule | undefined> {
  return findOne(db, "retry_cases", { businessId, payableId });
}

/**
 * Returns the roles that decide about a failed payable, in those of the businesses in which it has
 * failed.
 */
export async function decidersOf(
  db: Db,
  businessIds: readonly string[],
  payableId: string,
): Promise<string[]> {
  const cases = await findAll(db, "retry_cases", { payableId }, ["business_id"]);
  return cases.flatMap(({ businessId, rule }) => (businessIds.includes(businessId) ? rule.by : []));
}

/** Returns the rules for the failures of these payables; a payable that has not failed has none. */
export async function rulesOfFailures(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<ReadonlyMap<string, RetryCaseRule["rule"]>> {
  const cases = await findEach(db, "retry_cases", { businessId }, "payable_id", payableIds);
  return new Map(cases.map(({ payableId, rule }) => [payableId, rule]));
}

/**
 * Stores the rule of a failure. A later failure of the same case replaces the rule, but keeps the
 * instant of the first failure.
 */
export async function keepRetryCase(db: Db, kept: RetryCaseRule): Promise<void> {
  await db
    .insertInto("retry_cases")
    .values(asColumns(kept))
    .onConflict((conflict) =>
      conflict.columns(["business_id", "payable_id"]).doUpdateSet((eb) => ({
        source_id: eb.ref("excluded.source_id"),
        rule: eb.ref("excluded.rule"),
        give_up_after_days: eb.ref("excluded.give_up_after_days"),
        give_up_notify: eb.ref("excluded.give_up_notify"),
        waits_for: eb.ref("excluded.waits_for"),
      })),
    )
    .execute();
}

/** Deletes a case that has ended: the payable's next failure begins another one. */
export async function forgetRetryCase(
  db: Db,
  key: { readonly businessId: string; readonly payableId: string },
): Promise<void> {
  const { businessId, payableId } = key;
  await deleteRecords(db, "retry_cases", { businessId, payableId });
}

interface Account {
  readonly businessId: string;
  readonly sourceId: string;
}

/** Selects the cases whose retries have not ended, with these retries. */
function openCases(db: Db) {
  return db
    .selectFrom("retry_cases")
    .innerJoin("retries", (join) =>
      join
        .onRef("retries.business_id", "=", "retry_cases.business_id")
        .onRef("retries.payable_id", "=", "retry_cases.payable_id"),
    )
    .where("retries.phase", "!=", "ended");
}

/** Selects the open cases of bills that were to be paid from a funding account. */
export function casesOf(db: Db, { businessId, sourceId }: Account) {
  return openCases(db)
    .where("retry_cases.business_id", "=", businessId)
    .where("retry_cases.source_id", "=", sourceId);
}

/**
 * Selects those of them that wait for the incident of the account. A bill that was paid again after
 * an earlier decision waits for its new payment instead.
 */
export function casesOfIncident(db: Db, account: Account) {
  return thatWait(casesOf(db, account));
}

function thatWait(cases: ReturnType<typeof openCases>) {
  return cases
    .where("retry_cases.waits_for", "=", "incident")
    .where("retries.phase", "!=", "following");
}

function withLines(cases: ReturnType<typeof openCases>) {
  return cases.innerJoin("run_lines", (join) =>
    join
      .onRef("run_lines.run_id", "=", "retries.run_id")
      .onRef("run_lines.payable_id", "=", "retries.payable_id"),
  );
}

/** Returns the payables that wait for the incident of a funding account, with their amounts. */
export async function waitingForIncident(db: Db, account: Account): Promise<IncidentBill[]> {
  const rows = await withLines(casesOfIncident(db, account))
    .select([
      "retry_cases.payable_id",
      "run_lines.contact_id",
      "run_lines.amount_cents",
      "run_lines.state",
      "run_lines.payment_ids",
      "run_lines.attempts",
      "run_lines.reason_code",
      "run_lines.reason",
    ])
    .orderBy("retry_cases.payable_id")
    .execute();
  return rows.map(toRunLine);
}

/** Counts the lines of a run that wait for a decision about an account whose payments bounced. */
export async function countWaitingForIncidents(db: Db, runId: string): Promise<number> {
  const row = await withLines(thatWait(openCases(db)))
    .innerJoin("incidents", (join) =>
      join
        .onRef("incidents.business_id", "=", "retry_cases.business_id")
        .onRef("incidents.source_id", "=", "retry_cases.source_id"),
    )
    .where("retries.run_id", "=", runId)
    .where("run_lines.state", "=", "retrying")
    // A line that is also on hold by a person is counted with the holds.
    .where((eb) => eb(eb.fn.coalesce("run_lines.reason_code", eb.val("")), "!=", "on_hold"))
    .where("incidents.phase", "!=", "ended")
    .select(COUNT)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/**
 * Sums the bills that wait for money in a funding account behind this one: bills that failed first
 * are paid again first.
 */
export async function behindForFunds(
  db: Db,
  kept: Pick<RetryCaseRule, "businessId" | "sourceId" | "payableId" | "failedAtMs">,
): Promise<number> {
  const row = await withLines(casesOf(db, kept))
    .select(sumOfCents("run_lines.amount_cents").as("cents"))
    .where("retry_cases.waits_for", "=", "funds")
    .where("retries.phase", "=", "waiting")
    .where("run_lines.state", "=", "retrying")
    .where((eb) =>
      eb.or([
        eb("retry_cases.failed_at_ms", ">", kept.failedAtMs),
        eb.and([
          eb("retry_cases.failed_at_ms", "=", kept.failedAtMs),
          eb("retry_cases.payable_id", ">", kept.payableId),
        ]),
      ]),
    )
    .executeTakeFirst();
  return Number(row?.cents ?? 0);
}

interface FailedLine extends Account {
  readonly payableId: string;
  readonly contactId: string;
  readonly executionDate: string;
}

interface FailedBill {
  readonly payable_id: string;
  readonly contact_id: string;
}

/**
 * Returns the bills that also failed on that day, according to their retries: a line may have moved
 * to the day of a new payment since, or its reason may say what it waits for.
 */
async function bouncedToo(db: Db, line: FailedLine, code: string | null): Promise<FailedBill[]> {
  const { businessId, sourceId, payableId, executionDate } = line;
  // Reads the open cases first, which are few: otherwise SQLite would read all that was ever
  // retried.
  const open = await findAll(db, "retry_cases", { businessId, sourceId }, ["payable_id"]);
  if (open.length === 0) return [];
  const ids = idsIn(open.map(({ payableId }) => payableId));
  const rows = await db
    .selectFrom("retries")
    .innerJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "retries.run_id")
        .onRef("run_lines.payable_id", "=", "retries.payable_id"),
    )
    .select(["retries.phase", "retries.handled_payment_ids"])
    .select(["run_lines.payable_id", "run_lines.contact_id", "run_lines.execution_date"])
    .where("retries.business_id", "=", businessId)
    .where("retries.payable_id", "in", ids)
    .where("retries.reason_code", "=", code ?? "")
    .where("retries.payable_id", "!=", payableId)
    .execute();
  const sent = await db
    .selectFrom("sends")
    .select(["subject", "made_ids"])
    .where("business_id", "=", businessId)
    .where("subject", "in", ids)
    .where("execution_date", "=", executionDate)
    .execute();
  const made = new Set(sent.flatMap((row) => toSend(row).madeIds));
  return rows.filter((row) => {
    const { phase, handledPaymentIds } = toRetry(row);
    const isOfThatDay = phase !== "following" && row.execution_date === executionDate;
    return isOfThatDay || handledPaymentIds.some((id) => made.has(id));
  });
}

const toRetry = readerOf("retries");
const toSend = readerOf("sends");

/**
 * Returns how other bills of the same account and day fared, which may show whose account is bad.
 */
export async function dayOfFailure(
  db: Db,
  line: FailedLine,
  code: string | null,
): Promise<{
  readonly othersThrough: number;
  readonly othersFailed: number;
  readonly otherVendorsFailed: number;
}> {
  const others = db
    .selectFrom("run_lines")
    .where("business_id", "=", line.businessId)
    .where("source_id", "=", line.sourceId)
    .where("execution_date", "=", line.executionDate)
    .where("payable_id", "!=", line.payableId);
  const through = await others
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("state", "=", "settled")
    .executeTakeFirst();
  const failed = await others
    // Counted here: to count vendors itself, SQLite would read every line of the business in their
    // order.
    .select(["payable_id", "contact_id"])
    .where("state", "in", LINE.failed)
    .where("reason_code", "=", code ?? "")
    .execute();
  const bills = [...failed, ...(await bouncedToo(db, line, code))];
  const vendors = bills.map((bill) => bill.contact_id).filter((id) => id !== line.contactId);
  return {
    othersThrough: Number(through?.count ?? 0),
    othersFailed: new Set(bills.map((bill) => bill.payable_id)).size,
    otherVendorsFailed: new Set(vendors).size,
  };
}

/** What shows the outcome of a line for which something was sent. */
export type PaidLine = Pick<RunLine, "runId" | "state" | "paymentIds">;

/** Returns the lines of a payable for which something was sent, those of the latest run first. */
export async function paidLines(
  db: Db,
  { businessId, payableId }: { readonly businessId: string; readonly payableId: string },
): Promise<PaidLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("runs", "runs.run_id", "run_lines.run_id")
    .select(["run_lines.run_id", "run_lines.state", "run_lines.payment_ids"])
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.payable_id", "=", payableId)
    .where(isPaidHere())
    .orderBy("runs.launched_at_ms", "desc")
    .orderBy("run_lines.run_id", "desc")
    .execute();
  return rows.map(toRunLine);
}
