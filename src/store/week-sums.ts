import type { PayLimits } from "../contracts/playbook.ts";
import { nextBankingDay } from "../domain/clock/bank-calendar.ts";
import { newYorkDate, weekOf } from "../domain/clock/new-york.ts";
import type { Db } from "./db.ts";
import { mayStillPay } from "./open-subjects.ts";

/** States whose money counts against a weekly limit; others count while a request of theirs is open. */
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
    const row =
      line.executionDate < this.#earliest ? { ...line, executionDate: this.#earliest } : line;
    const vendor = await this.#over(row, row.contactId, vendorPerWeekCents);
    if (vendor) {
      return {
        code: "over-vendor-week-limit",
        text: "This vendor's weekly limit is used up by other payments of the same week.",
      };
    }
    const business = await this.#over(row, null, businessPerWeekCents);
    if (business) {
      return {
        code: "over-business-week-limit",
        text: "The business's weekly limit is used up by other payments of the same week.",
      };
    }
    this.#add(row, row.contactId);
    this.#add(row, null);
    return null;
  }

  async #over(
    row: WeighedLine,
    contactId: string | null,
    limitCents: number | null,
  ): Promise<boolean> {
    if (limitCents === null) return false;
    const key = this.#key(row, contactId);
    let used = this.#sums.get(key);
    if (used === undefined) {
      used = await this.#used(row, contactId);
      this.#sums.set(key, used);
    }
    return used + row.amountCents > limitCents;
  }

  #add(row: WeighedLine, contactId: string | null): void {
    if (this.#sums.size === 0) return;
    const key = this.#key(row, contactId);
    const used = this.#sums.get(key);
    if (used !== undefined) this.#sums.set(key, used + row.amountCents);
  }

  #key(row: WeighedLine, contactId: string | null): string {
    return `${contactId ?? ""} ${weekOf(row.executionDate).monday}`;
  }

  async #used(row: WeighedLine, contactId: string | null): Promise<number> {
    const week = weekOf(row.executionDate);
    let query = this.#db
      .selectFrom("run_lines")
      .select((eb) => eb.fn.sum<number>("amount_cents").as("cents"))
      .where("business_id", "=", row.businessId)
      .where("execution_date", ">=", week.monday)
      .where("execution_date", "<=", week.sunday)
      .where((eb) => eb.or([eb("state", "in", COMMITTED), mayStillPay("run_lines")]))
      .where((eb) => eb.or([eb("run_id", "!=", row.runId), eb("payable_id", "!=", row.payableId)]));
    if (contactId !== null) query = query.where("contact_id", "=", contactId);
    const found = await query.executeTakeFirst();
    return Number(found?.cents ?? 0);
  }
}
