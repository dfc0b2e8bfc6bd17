import type { OverLimitCode } from "../../contracts/reason-codes.ts";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ApprovalRule, PayLimits, SumPer } from "../../contracts/playbook.ts";
import { nextBankingDay } from "../../domain/clock/bank-calendar.ts";
import { newYorkDate, weekOf } from "../../domain/clock/new-york.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { isKnownUnpaid } from "../../domain/payments/payment-states.ts";
import { type Db, sumOfCents } from "../sql/db.ts";
import { isIn } from "../sql/is-in.ts";
import type { RunLine } from "./lines.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import { seenPayments } from "../payables/seen-payments.ts";

/** What is added up: by the week of a line's date or by its run, of its vendor or of all. */
type Sum = SumPer | "business-week";

const LIMITS = [
  {
    limit: "vendorPerWeekCents",
    sum: "vendor-week",
    code: "over_vendor_week_limit",
    whose: "This vendor's",
  },
  {
    limit: "businessPerWeekCents",
    sum: "business-week",
    code: "over_business_week_limit",
    whose: "The business's",
  },
] as const;

const ADDED_UP: Readonly<Record<SumPer, string>> = {
  vendor: "this run",
  "vendor-week": "this week",
};

/** What sums need to know of a line. */
export type WeighedLine = Pick<
  RunLine,
  "runId" | "businessId" | "payableId" | "contactId" | "amountCents" | "executionDate"
>;

/** Why a line isn't paid: a limit that it would break, or a rule that it wasn't approved under. */
export type SumRefusal =
  | { readonly kind: "limit"; readonly code: OverLimitCode; readonly text: string }
  | { readonly kind: "rule"; readonly index: number; readonly text: string };

export interface Summing {
  readonly limits: PayLimits;
  readonly approve: readonly ApprovalRule[];
  /** A line whose date has passed counts in the week in which it is paid. */
  readonly businessMs: number;
}

/** Sums of what is committed to a vendor or by the business, added to as lines join. */
export class CommittedSums {
  readonly #db: Db;
  readonly #by: Summing;
  readonly #earliest: string;
  /** All that count here: a line that joins is added to each. */
  readonly #sums: readonly Sum[];
  readonly #cents = new Map<string, number>();

  constructor(db: Db, by: Summing) {
    this.#db = db;
    this.#by = by;
    this.#earliest = nextBankingDay(newYorkDate(by.businessMs));
    const ofLimits = LIMITS.filter(({ limit }) => by.limits[limit] !== null);
    const ofRules = by.approve.flatMap(({ overPer }) => overPer ?? []);
    this.#sums = [...new Set([...ofLimits.map(({ sum }) => sum), ...ofRules])];
  }

  /**
   * Returns what keeps a line from being paid; null if nothing does, and then it counts for the
   * lines after it.
   *
   * @param plan with the rules that it falls under once its vendor is paid more
   */
  async refusal(
    line: WeighedLine,
    plan: Pick<PlanLine, "totalCents" | "sumRules">,
  ): Promise<SumRefusal | null> {
    const row =
      line.executionDate < this.#earliest ? { ...line, executionDate: this.#earliest } : line;
    const sums = new Map<Sum, { readonly cents: number; readonly withLine: number }>();
    // A line that is sent again is among the sums already.
    const isOwn = sql<SqlBool>`run_id = ${row.runId} and payable_id = ${row.payableId}`;
    const own = new Map<boolean, number>();
    for (const sum of this.#sums) {
      const ownCents = own.get(isWeekly(sum)) ?? (await this.#committed(sum, row, isOwn));
      own.set(isWeekly(sum), ownCents);
      const cents = this.#cents.get(keyOf(sum, row)) ?? (await this.#committed(sum, row, ALL));
      sums.set(sum, { cents, withLine: cents + row.amountCents - ownCents });
    }
    const refusal = this.#overLimit(sums) ?? (await this.#otherRule(sums, row, plan));
    for (const [sum, { cents, withLine }] of sums) {
      this.#cents.set(keyOf(sum, row), refusal === null ? withLine : cents);
    }
    return refusal;
  }

  #overLimit(sums: ReadonlyMap<Sum, { readonly withLine: number }>): SumRefusal | null {
    for (const { limit, sum, code, whose } of LIMITS) {
      const limitCents = this.#by.limits[limit];
      if (limitCents === null || (sums.get(sum)?.withLine ?? 0) <= limitCents) continue;
      const text = `${whose} weekly limit is used up by other payments of the same week.`;
      return { kind: "limit", code, text };
    }
    return null;
  }

  /** The bill counts whole, so that nothing is gained by paying it in parts. */
  async #otherRule(
    sums: ReadonlyMap<Sum, { readonly cents: number }>,
    row: WeighedLine,
    { totalCents, sumRules = [] }: Pick<PlanLine, "totalCents" | "sumRules">,
  ): Promise<SumRefusal | null> {
    for (const index of sumRules) {
      const { overPer, overCents = null } = this.#by.approve[index] ?? {};
      if (overPer === undefined || overCents === null) continue;
      const isOfBill = sql<SqlBool>`payable_id = ${row.payableId}`;
      const partCents = await this.#committed(overPer, row, isOfBill);
      const whole = Math.max(totalCents, partCents, row.amountCents);
      const cents = (sums.get(overPer)?.cents ?? 0) - partCents + whole;
      if (cents <= overCents) continue;
      const text = `with it, its vendor is paid ${formatUsd(cents)} in ${ADDED_UP[overPer]}, and more than ${formatUsd(overCents)} needs another approval`;
      return { kind: "rule", index, text };
    }
    return null;
  }

  async #committed(
    sum: Sum,
    { businessId, runId, contactId, executionDate }: WeighedLine,
    isMeant: RawBuilder<SqlBool>,
  ): Promise<number> {
    const { monday, sunday } = weekOf(executionDate);
    const all = this.#db.selectFrom("run_lines").where("business_id", "=", businessId);
    const ofAll = isWeekly(sum)
      ? all.where((eb) => eb.between("execution_date", monday, sunday))
      : all.where("run_id", "=", runId);
    const asked = sum === "business-week" ? ofAll : ofAll.where("contact_id", "=", contactId);
    const lines = asked.where(isMeant);
    const isWhole = sql<SqlBool>`(${isIn("state", LINE.committed)} or ${rowMayStillPay("run_lines")})`;
    const whole = await lines
      .select(sumOfCents("amount_cents").as("cents"))
      .where(isWhole)
      .executeTakeFirst();
    const parts = await lines
      .select("payment_ids")
      .where("payment_ids", "!=", "[]")
      .where(sql<SqlBool>`not ${isWhole}`)
      .execute();
    const ids = parts.flatMap((row) => JSON.parse(row.payment_ids) as string[]);
    const seen = [...(await seenPayments(this.#db, businessId, ids)).values()];
    const left = seen.filter(({ status }) => !isKnownUnpaid(status));
    return Number(whole?.cents ?? 0) + sumCents(left.map(({ amountCents }) => amountCents));
  }
}

function isWeekly(sum: Sum): boolean {
  return sum !== "vendor";
}

const ALL = sql<SqlBool>`true`;

function keyOf(sum: Sum, { contactId, executionDate }: WeighedLine): string {
  const { monday } = weekOf(executionDate);
  if (!isWeekly(sum)) return `run ${contactId}`;
  return sum === "business-week" ? `all ${monday}` : `vendor ${contactId} ${monday}`;
}
