import type { PayLimits } from "../../contracts/playbook.ts";
import type { OverLimitCode } from "../../contracts/reason-codes.ts";
import { weekOf } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";

/** Amounts that other runs have committed, by the Monday of each week. */
export interface WeekUse {
  readonly businessCents: ReadonlyMap<string, number>;
  /** By `vendorWeek(contactId, monday)`. */
  readonly vendorCents: ReadonlyMap<string, number>;
  /** Of the bills that are planned, by `vendorWeek(payableId, monday)`: earlier parts of them. */
  readonly partCents: ReadonlyMap<string, number>;
}

/** What a line pays, and the bill that it pays or pays a part of. */
export interface PaidBill {
  readonly amountCents: number;
  /** The bill's total. */
  readonly totalCents: number;
}

export interface LimitedLine extends PaidBill {
  readonly contactId: string;
  readonly executionDate: string;
}

export interface OverLimit {
  readonly code: OverLimitCode;
  readonly text: string;
}

export function vendorWeek(id: string, monday: string): string {
  return `${monday} ${id}`;
}

/**
 * Returns what a bill counts for rules and limits by its amount: the whole of it, whatever part of
 * it is paid. A large bill would otherwise need less if it is paid in parts.
 */
export function wholeCents({ amountCents, totalCents }: PaidBill): number {
  return Math.max(amountCents, totalCents);
}

/** Each limit by its key in playbooks and profiles. */
const KEYS = {
  bill: "billCents",
  vendorPerWeek: "vendorPerWeekCents",
  businessPerWeek: "businessPerWeekCents",
} as const satisfies Readonly<Record<string, keyof PayLimits>>;

/** Lists the limits that are set: `bill $50,000.00`. */
export function limitTexts(limits: PayLimits): string[] {
  return Object.entries(KEYS).flatMap(([key, limit]) => {
    const cents = limits[limit];
    return cents === null ? [] : [`${key} ${formatUsd(cents)}`];
  });
}

/** The limits that hold, and which of them the business's profile sets instead of the playbook. */
export interface LimitsInForce extends PayLimits {
  readonly ofProfile?: readonly (keyof PayLimits)[];
}

/** Returns the limits in force: of each, the stricter of the playbook's and its business's. */
export function limitsInForce(playbook: PayLimits, business: PayLimits | undefined): LimitsInForce {
  const stricter = (limit: keyof PayLimits): number | null => {
    const set = [playbook[limit], business?.[limit] ?? null].filter((cents) => cents !== null);
    return set.length === 0 ? null : Math.min(...set);
  };
  return {
    billCents: stricter("billCents"),
    vendorPerWeekCents: stricter("vendorPerWeekCents"),
    businessPerWeekCents: stricter("businessPerWeekCents"),
    ofProfile: Object.values(KEYS).filter((limit) => {
      const most = business?.[limit] ?? null;
      return most !== null && most <= (playbook[limit] ?? most);
    }),
  };
}

/** Says how high a limit is, and whose it is. */
function limitText(limit: keyof PayLimits, limits: LimitsInForce): string {
  const whose = limits.ofProfile?.includes(limit) === true ? "business profile's" : "playbook's";
  return `the ${whose} limit of ${formatUsd(limits[limit] ?? 0)}`;
}

/** Says which of a playbook's limits are above its business's, which are in force instead. */
export function laxerLimits(playbook: PayLimits, business: PayLimits | undefined): string[] {
  const inForce = limitsInForce(playbook, business);
  return Object.entries(KEYS).flatMap(([key, limit]) => {
    const [own, most] = [playbook[limit], inForce[limit]];
    if (own === null || most === null || own <= most) return [];
    return [
      `limits.${key} is ${formatUsd(own)}, and the business's profile allows ${formatUsd(most)}`,
    ];
  });
}

/** As `laxerLimits`, for a plan of a playbook that may not be stored yet. */
export function laxerWarnings(playbook: PayLimits, business: PayLimits | undefined): string[] {
  return laxerLimits(playbook, business).map(
    (text) => `${text}: that is in force here, and “payrun apply” refuses the playbook.`,
  );
}

/** Returns the limit for one bill if the line is above it; null if not. */
export function overBillLimit(line: PaidBill, limits: LimitsInForce): OverLimit | null {
  const { billCents } = limits;
  const cents = wholeCents(line);
  if (billCents === null || cents <= billCents) return null;
  const whole =
    cents === line.amountCents ? formatUsd(cents) : `The whole bill, ${formatUsd(cents)},`;
  const text = `${whole} is above ${limitText("billCents", limits)} for one bill.`;
  return { code: "over_bill_limit", text };
}

/**
 * Checks lines against the limits in force, in the order of the calls: a line that fits counts for
 * later ones, one that doesn't fit does not.
 */
export class LimitBook {
  readonly #limits: LimitsInForce;
  readonly #business: Map<string, number>;
  readonly #vendor: Map<string, number>;

  constructor(limits: LimitsInForce, used: WeekUse) {
    this.#limits = limits;
    this.#business = new Map(used.businessCents);
    this.#vendor = new Map(used.vendorCents);
  }

  /** Counts the line, or returns the limit that it would exceed. */
  take(line: LimitedLine): OverLimit | null {
    const { vendorPerWeekCents, businessPerWeekCents } = this.#limits;
    const { amountCents } = line;
    const { monday } = weekOf(line.executionDate);
    const vendorKey = vendorWeek(line.contactId, monday);
    const vendor = (this.#vendor.get(vendorKey) ?? 0) + amountCents;
    const business = (this.#business.get(monday) ?? 0) + amountCents;
    const over = overBillLimit(line, this.#limits);
    if (over !== null) return over;
    if (vendorPerWeekCents !== null && vendor > vendorPerWeekCents) {
      const text = `It would bring this vendor to ${formatUsd(vendor)} in the week of ${monday}, above ${limitText("vendorPerWeekCents", this.#limits)}.`;
      return { code: "over_vendor_week_limit", text };
    }
    if (businessPerWeekCents !== null && business > businessPerWeekCents) {
      const text = `It would bring the business to ${formatUsd(business)} in the week of ${monday}, above ${limitText("businessPerWeekCents", this.#limits)}.`;
      return { code: "over_business_week_limit", text };
    }
    this.#vendor.set(vendorKey, vendor);
    this.#business.set(monday, business);
    return null;
  }
}
