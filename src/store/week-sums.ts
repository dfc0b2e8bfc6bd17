import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { PayLimits } from "../contracts/playbook.ts";
import { nextBankingDay } from "../domain/clock/bank-calendar.ts";
import { newYorkDate, weekOf } from "../domain/clock/new-york.ts";
import { sumCents } from "../domain/money.ts";
import { isKnownUnpaid } from "../domain/payments/payment-states.ts";
import type { Db } from "./db.ts";
import { isIn } from "./in-text.ts";
import { mayStillPay } from "./open-subjects.ts";
import { seenPayments } from "./seen-payments.ts";

/**
 * States in which all of a line counts against a weekly limit. In others it does while a request of
 * it is open; else what of its payments is not known to be unpaid.
 */
const COMMITTED = ["unknown", "scheduled", "held", "processing", "settled", "retrying"];

/** What a weekly limit looks at. */
export interface WeighedLine {
  readonly runId: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly executionDate: string;
}

/** Weekly sums of the business and its vendors, read once and counted on as lines join. */
export class WeekSums {
  readonly #db: Db;
  readonly #limits: PayLimits;
  readonly #earliest: string;
  readonly #sums = new Map<string, number>();

  /** @param now.businessMs a line whose date has passed counts in the week it is paid in */
  constructor(db: Db, now: { readonly limits: PayLimits; readonly businessMs: number }) {
    this.#db = db;
    this.#limits = now.limits;
    this.#earliest = nextBankingDay(newYorkDate(now.businessMs));
  }

  /** Which limit of its week the line would break, or null: it then counts for those after it. */
  async refusal(line: WeighedLine): Promise<{ code: string; text: string } | null> {
    const { vendorPerWeekCents, businessPerWeekCents } = this.#limits;
    if (vendorPerWeekCents === null && businessPerWeekCents === null) return null;
    const row =
      line.executionDate < this.#earliest ? { ...line, executionDate: this.#earliest } : line;
    // A line that is sent again is among the sums already.
    const moreCents = row.amountCents - (await this.#ownCents(row));
    if (await this.#over(row, row.contactId, moreCents, vendorPerWeekCents)) {
      return {
        code: "over-vendor-week-limit",
        text: "This vendor's weekly limit is used up by other payments of the same week.",
      };
    }
    if (await this.#over(row, null, moreCents, businessPerWeekCents)) {
      return {
        code: "over-business-week-limit",
        text: "The business's weekly limit is used up by other payments of the same week.",
      };
    }
    this.#add(row, row.contactId, moreCents);
    this.#add(row, null, moreCents);
    return null;
  }

  async #over(
    row: WeighedLine,
    contactId: string | null,
    moreCents: number,
    limitCents: number | null,
  ): Promise<boolean> {
    if (limitCents === null) return false;
    const key = keyOf(row, contactId);
    let used = this.#sums.get(key);
    if (used === undefined) {
      used = await this.#used(row, contactId);
      this.#sums.set(key, used);
    }
    return used + moreCents > limitCents;
  }

  #add(row: WeighedLine, contactId: string | null, moreCents: number): void {
    const key = keyOf(row, contactId);
    const used = this.#sums.get(key);
    if (used !== undefined) this.#sums.set(key, used + moreCents);
  }

  #used(row: WeighedLine, contactId: string | null): Promise<number> {
    return this.#committed(row, contactId === null ? sql`true` : sql`contact_id = ${contactId}`);
  }

  #ownCents(row: WeighedLine): Promise<number> {
    return this.#committed(row, sql`run_id = ${row.runId} and payable_id = ${row.payableId}`);
  }

  async #committed(
    { businessId, executionDate }: WeighedLine,
    isMeant: RawBuilder<SqlBool>,
  ): Promise<number> {
    const week = weekOf(executionDate);
    const lines = this.#db
      .selectFrom("run_lines")
      .where("business_id", "=", businessId)
      .where("execution_date", ">=", week.monday)
      .where("execution_date", "<=", week.sunday)
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

function keyOf({ executionDate }: WeighedLine, contactId: string | null): string {
  return `${contactId ?? ""} ${weekOf(executionDate).monday}`;
}
