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

  async #used(row: WeighedLine, contactId: string | null): Promise<number> {
    const committed = this.#committed(row);
    const found = await (
      contactId === null ? committed : committed.where("contact_id", "=", contactId)
    ).executeTakeFirst();
    return Number(found?.cents ?? 0);
  }

  async #ownCents(row: WeighedLine): Promise<number> {
    const found = await this.#committed(row)
      .where("run_id", "=", row.runId)
      .where("payable_id", "=", row.payableId)
      .executeTakeFirst();
    return Number(found?.cents ?? 0);
  }

  #committed({ businessId, executionDate }: WeighedLine) {
    const week = weekOf(executionDate);
    return this.#db
      .selectFrom("run_lines")
      .select((eb) => eb.fn.sum<number>("amount_cents").as("cents"))
      .where("business_id", "=", businessId)
      .where("execution_date", ">=", week.monday)
      .where("execution_date", "<=", week.sunday)
      .where((eb) => eb.or([eb("state", "in", COMMITTED), mayStillPay("run_lines")]));
  }
}

function keyOf({ executionDate }: WeighedLine, contactId: string | null): string {
  return `${contactId ?? ""} ${weekOf(executionDate).monday}`;
}
