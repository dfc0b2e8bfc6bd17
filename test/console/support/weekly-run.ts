import type { LineFlag, PlanLine } from "../../../src/contracts/pay-run.ts";
import type { Store } from "../../../src/store/index.ts";
import { activeHolds } from "../../../src/store/holds/holds.ts";
import type { TestGateway } from "../../gateway/support/gateway.ts";
import { gatewayTest } from "../../gateway/support/gateway-test.ts";
import { planLine, seedRun, type SeededRun, setLine } from "../../gateway/support/rows.ts";
import { signedIn } from "./visits.ts";

const VENDORS = [
  "Osprey Robotics",
  "Harbor Street Bakery",
  "Juniper Office Supply",
  "Lakeside Plumbing & Heating",
  "Northwind Freight",
  "O’Brien & Daughters",
  "Pinecrest Analytics",
  "Quarry Hill Concrete",
  "Redwood Facilities",
  "Sable Insurance Brokers",
];

const BANK_CHANGED: LineFlag = {
  kind: "changed-bank-account",
  text: "The vendor's bank account ends in 4417 now; the last payment from here went to one ending in 6789.",
};
const DUPLICATE: LineFlag = {
  kind: "likely-duplicate",
  text: "Same vendor and amount as bill BILL-000012 of 2026-11-02.",
};

/** Returns a bill of a vendor with a realistic name. */
function billOf(number: number, changes: Partial<PlanLine> = {}): PlanLine {
  const vendor = number % VENDORS.length;
  const amountCents = 18_450 + ((number * 7_919) % 97) * 11_313;
  return planLine(`pbl_${String(number).padStart(4, "0")}`, {
    publicId: `BILL-${String(number).padStart(6, "0")}`,
    contactId: `con_${vendor}`,
    contactName: VENDORS[vendor] ?? null,
    description: "Invoice",
    amountCents,
    totalCents: amountCents,
    dueDate: `2026-12-0${1 + (number % 8)}`,
    executionDate: number % 3 === 0 ? "2026-11-27" : "2026-11-25",
    arrivalDate: number % 3 === 0 ? "2026-12-02" : "2026-12-01",
    ...changes,
  });
}

/** Returns the lines of a week: most are plain, one needs the owner, some are odd or late. */
function weeklyLines(count = 58): PlanLine[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 101;
    if (index === 3) return billOf(number, { flags: [BANK_CHANGED], quorum: 2, bankLast4: "4417" });
    if (index === 7) return billOf(number, { flags: [DUPLICATE], quorum: 2 });
    if (index === 11) {
      const money = { amountCents: 2_451_162, totalCents: 2_451_162 };
      return billOf(number, { ...money, approvers: ["owner"], ruleIndex: 0 });
    }
    if (index === 20 || index === 21) {
      const text = "Arrives 2026-12-01, after its due date 2026-11-24, even if paid at once.";
      return billOf(number, { dueDate: "2026-11-24", flags: [{ kind: "late", text }] });
    }
    return billOf(number);
  });
}

/** Makes a run that waits for approval; bills approved after their day go out on the next one. */
export function seedWeekly(store: Store, count?: number): Promise<SeededRun> {
  const lines = weeklyLines(count);
  return seedRun(store, { launchedBy: "lou", author: "ada", late: "next-business-day", lines });
}

/** Tests with a gateway that has this week; `olga` is a signed-in operator. */
export const weeklyTest = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) => seedWeekly(gateway.store))
  .extend("olga", ({ gateway }) => signedIn(gateway, "olga", ["operator", "admin"]));

/** Returns the holds that are in force, each on one line. */
export async function inForce({ store }: TestGateway): Promise<string[]> {
  const holds = await activeHolds(store.db, "biz_acme", Date.now());
  return holds.map(({ scope, value, reason, author }) => `${scope} ${value} ${reason} ${author}`);
}

/** Parks a bill of the week as if its payment had been returned. */
export async function park(
  { store }: TestGateway,
  { runId }: SeededRun,
  payableId: string,
  reasonCode = "R02",
): Promise<void> {
  const change = { state: "parked", reasonCode, reason: "R02: account closed." } as const;
  await setLine(store, runId, payableId, change);
}
