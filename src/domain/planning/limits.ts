import type { PayLimits } from "../../contracts/playbook.ts";
import { weekOf } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";

/** Amounts that other runs have committed, by the Monday of each week. */
export interface WeekUse {
  readonly businessCents: ReadonlyMap<string, number>;
  /** By `vendorWeek(contactId, monday)`. */
  readonly vendorCents: ReadonlyMap<string, number>;
}

export interface LimitedLine {
  readonly contactId: string;
  readonly amountCents: number;
  readonly executionDate: string;
}

export interface OverLimit {
  readonly code: "over-bill-limit" | "over-vendor-week-limit" | "over-business-week-limit";
  readonly text: string;
}

export function vendorWeek(contactId: string, monday: string): string {
  return `${monday} ${contactId}`;
}

/**
 * Checks lines against the playbook's limits, in the order of the calls: a line that fits counts
 * for later ones, one that doesn't fit does not.
 */
export class LimitBook {
  readonly #limits: PayLimits;
  readonly #business: Map<string, number>;
  readonly #vendor: Map<string, number>;

  constructor(limits: PayLimits, used: WeekUse) {
    this.#limits = limits;
    this.#business = new Map(used.businessCents);
    this.#vendor = new Map(used.vendorCents);
  }

  /** Counts the line, or returns the limit that it would exceed. */
  take(line: LimitedLine): OverLimit | null {
    const { billCents, vendorPerWeekCents, businessPerWeekCents } = this.#limits;
    const { amountCents } = line;
    const { monday } = weekOf(line.executionDate);
    const vendorKey = vendorWeek(line.contactId, monday);
    const vendor = (this.#vendor.get(vendorKey) ?? 0) + amountCents;
    const business = (this.#business.get(monday) ?? 0) + amountCents;
    if (billCents !== null && amountCents > billCents) {
      const text = `${formatUsd(amountCents)} is above the limit of ${formatUsd(billCents)} for one bill.`;
      return { code: "over-bill-limit", text };
    }
    if (vendorPerWeekCents !== null && vendor > vendorPerWeekCents) {
      const text = `It would bring this vendor to ${formatUsd(vendor)} in the week of ${monday}, above the limit of ${formatUsd(vendorPerWeekCents)}.`;
      return { code: "over-vendor-week-limit", text };
    }
    if (businessPerWeekCents !== null && business > businessPerWeekCents) {
      const text = `It would bring the business to ${formatUsd(business)} in the week of ${monday}, above the limit of ${formatUsd(businessPerWeekCents)}.`;
      return { code: "over-business-week-limit", text };
    }
    this.#vendor.set(vendorKey, vendor);
    this.#business.set(monday, business);
    return null;
  }
}
