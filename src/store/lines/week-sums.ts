import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { PayLimits } from "../../contracts/playbook.ts";
import { nextBankingDay } from "../../domain/clock/bank-calendar.ts";
import { newYorkDate, weekOf } from "../../domain/clock/new-york.ts";
import { sumCents } from "../../domain/money.ts";
import { isKnownUnpaid } from "../../domain/payments/payment-states.ts";
import type { Db } from "../sql/db.ts";
import { isIn } from "../sql/is-in.ts";
import type { RunLine } from "./lines.ts";
import { mayStillPay } from "../payables/open-subjects.ts";
import { seenPayments } from "../payables/seen-payments.ts";

/**
 * States in which a whole line counts against a weekly limit. In other states it does only while
 * one of its requests is open; otherwise only those of its payments count that are not known to be
 * unpaid.
 */
const COMMITTED = ["unknown", "scheduled", "held", "processing", "settled", "retrying"];

/** The limit for a vendor, and the one for the whole business. */
const WEEKLY = [
  { limit: "vendorPerWeekCents", code: "over-vendor-week-limit", whose: "This vendor's" },
  { limit: "businessPerWeekCents", code: "over-business-week-limit", whose: "The business's" },
] as const;

/** What a weekly limit needs to know of a line. */
export type WeighedLine = Pick<
  RunLine,
  "runId" | "businessId" | "payableId" | "contactId" | "amountCents" | "executionDate"
>;

/** Weekly sums of the business and its vendors, read once and added to as lines join. */
export class WeekSums {
  readonly #db: Db;
  readonly #limits: PayLimits;
  readonly #earliest: string;
  readonly #sums = new Map<string, number>();

  /** @param now.businessMs a line whose date has passed counts in the week in which it is paid */
  constructor(db: Db, now: { readonly limits: PayLimits; readonly businessMs: number }) {
    this.#db = db;
    this.#limits = now.limits;
    this.#earliest = nextBankingDay(newYorkDate(now.businessMs));
  }

  /**
   * Returns which limit of its week the line would break; null if none, and then it counts for the
   * lines after it.
   */
  async refusal(line: WeighedLine): Promise<{ code: string; text: string } | null> {
    if (WEEKLY.every(({ limit }) => this.#limits[limit] === null)) return null;
    const row =
      line.executionDate < this.#earliest ? { ...line, executionDate: this.#earliest } : line;
    // A line that is sent again is among the sums already.
    const isOwn = sql<SqlBool>`run_id = ${row.runId} and payable_id = ${row.payableId}`;
    const moreCents = row.amountCents - (await this.#committed(row, isOwn));
    const next = new Map<string, number>();
    for (const { limit, code, whose } of WEEKLY) {
      const limitCents = this.#limits[limit];
      if (limitCents === null) continue;
      const vendor = limit === "vendorPerWeekCents" ? row.contactId : "";
      const isMeant = vendor === "" ? sql<SqlBool>`true` : sql<SqlBool>`contact_id = ${vendor}`;
      const key = `${vendor} ${weekOf(row.executionDate).monday}`;
      const usedCents = this.#sums.get(key) ?? (await this.#committed(row, isMeant));
      this.#sums.set(key, usedCents);
      const text = `${whose} weekly limit is used up by other payments of the same week.`;
      if (usedCents + moreCents > limitCents) return { code, text };
      next.set(key, usedCents + moreCents);
    }
    for (const [key, cents] of next) this.#sums.set(key, cents);
    return null;
  }

  async #committed(
    { businessId, executionDate }: WeighedLine,
    isMeant: RawBuilder<SqlBool>,
  ): Promise<number> {
    const { monday, sunday } = weekOf(executionDate);
    const lines = this.#db
      .selectFrom("run_lines")
      .where("business_id", "=", businessId)
      .where((eb) => eb.between("execution_date", monday, sunday))
      .where(isMeant);
    const isWhole = sql<SqlBool>`(${isIn("state", COMMITTED)} or ${mayStillPay("run_lines")})`;
    const whole = await lines
      .select((eb) => eb.fn.sum<number>("amount_cents").as("cents"))
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
