import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ApprovalRule, SumPer } from "../../contracts/playbook.ts";
import { weekOf } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";
import { vendorWeek, type WeekUse, wholeCents } from "./limits.ts";
import type { SelectedBill } from "./select.ts";

/** What a line pays, to whom and when. */
export type SummedLine = Pick<
  PlanLine,
  "payableId" | "contactId" | "amountCents" | "executionDate"
>;

/** True if a rule adds up what a vendor is paid. */
export function addsUp(rules: readonly ApprovalRule[]): boolean {
  return rules.some(({ overPer }) => overPer !== undefined);
}

const COMES: Readonly<Record<SumPer, string>> = {
  vendor: "its vendor's bills of the run come",
  "vendor-week": "its vendor's week comes",
};

/**
 * Says which sum puts a line under its rule, as planned: `its vendor's week comes to $10,200.00,
 * above $10,000.00`. Undefined if no sum does, or if the bill alone would.
 */
export function sumText(
  line: Pick<PlanLine, "ruleIndex" | "amountCents" | "totalCents" | "besidesCents">,
  rules: readonly ApprovalRule[],
): string | undefined {
  const { overPer, overCents = null } = rules[line.ruleIndex] ?? {};
  if (overPer === undefined || overCents === null) return undefined;
  const bill = wholeCents(line);
  const cents = bill + (line.besidesCents?.[overPer] ?? 0);
  if (bill > overCents || cents <= overCents) return undefined;
  return `${COMES[overPer]} to ${formatUsd(cents)}, above ${formatUsd(overCents)}`;
}

/** Returns the bills whose earlier parts those rules need to know: they are not paid at once. */
export function paidInParts(
  rules: readonly ApprovalRule[],
  selected: readonly SelectedBill[],
): string[] {
  if (!addsUp(rules)) return [];
  return selected.flatMap(({ bill, amountCents }) =>
    amountCents < bill.totalCents ? [bill.payableId] : [],
  );
}

/** What each vendor is paid by the lines of a plan, and by other runs of the same weeks. */
export class VendorSums {
  readonly #used: WeekUse;
  readonly #run = new Map<string, number>();
  readonly #week = new Map<string, number>();

  constructor(lines: Iterable<SummedLine>, used: WeekUse) {
    this.#used = used;
    for (const line of lines) {
      add(this.#run, line.contactId, line.amountCents);
      add(this.#week, weekKey(line), line.amountCents);
    }
  }

  /**
   * Returns what the vendor is paid besides a line's bill. Earlier parts of the bill don't count:
   * the bill itself counts whole.
   */
  besides(line: SummedLine): NonNullable<PlanLine["besidesCents"]> {
    const key = weekKey(line);
    const parts = vendorWeek(line.payableId, weekOf(line.executionDate).monday);
    const others = (this.#used.vendorCents.get(key) ?? 0) - (this.#used.partCents.get(parts) ?? 0);
    return {
      vendor: (this.#run.get(line.contactId) ?? 0) - line.amountCents,
      "vendor-week": (this.#week.get(key) ?? 0) - line.amountCents + others,
    };
  }
}

function weekKey({ contactId, executionDate }: SummedLine): string {
  return vendorWeek(contactId, weekOf(executionDate).monday);
}

function add(sums: Map<string, number>, key: string, cents: number): void {
  sums.set(key, (sums.get(key) ?? 0) + cents);
}
