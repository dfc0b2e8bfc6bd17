import type { Stream } from "../world/random.ts";

/** A playbook that the company has stored. */
export interface StoredText {
  readonly name: string;
  readonly text: string;
}

/** How this company pays, as its playbooks say it. */
export interface PayingHabits {
  readonly playbooks: readonly StoredText[];
  /** Pay runs, launched in this order. */
  readonly launches: readonly string[];
  readonly quorum: number;
  /** What one vendor may be paid in a week; none where a playbook names no limit. */
  readonly vendorPerWeekCents: number | undefined;
}

/** Chooses what a company's playbooks say. */
export function choosePlaybooks(lots: Stream): PayingHabits {
  const quorum = lots.chance(0.25) ? 2 : 1;
  const limit = lots.chance(0.3) ? lots.between(80, 300) : undefined;
  const names = lots.chance(0.3) ? ["weekly", "monthly"] : ["weekly"];
  // Two runs want the same bills, or each has some of a vendor's.
  const shares = names.length > 1 && lots.chance(0.6);
  const playbooks = names.map((name, at) => ({
    name,
    text: payRun(lots, { quorum, limit, where: shares && at === 0 ? LARGE_BILLS : undefined }),
  }));
  if (lots.chance(0.3)) {
    playbooks.push({ name: "retry-failed", text: RETRY_FAILED });
  }
  const vendorPerWeekCents = limit === undefined ? undefined : limit * 100;
  return { playbooks, launches: names, quorum, vendorPerWeekCents };
}

const LARGE_BILLS = "payable.amountCents > 9000";

interface Says {
  readonly quorum: number;
  readonly limit: number | undefined;
  /** Which bills it pays; all where it names none. */
  readonly where: string | undefined;
}

function payRun(lots: Stream, { quorum, limit, where }: Says): string {
  const lines = ["kind: pay-run", "select: { due: all }"];
  if (where !== undefined) lines.push(`where: ${where}`);
  const pays = ["on: next-business-day", "on: arrives-by-due-date"];
  lines.push(`pay: { ${lots.pick(pays)} }`);
  lines.push("review: [changed-bank-account]");
  const rules = [`  - { by: [controller, owner], quorum: ${quorum} }`];
  if (lots.chance(0.2)) rules.unshift("  - { over: $100, by: [owner] }");
  lines.push("approve:", ...rules);
  if (limit !== undefined) lines.push(`limits: { vendorPerWeek: $${limit} }`);
  if (lots.chance(0.35)) lines.push(`approvalValid: ${lots.pick([1, 1, 2, 5])} days`);
  lines.push(`late: ${lots.pick(["ask", "next-business-day"])}`);
  return `${lines.join("\n")}\n`;
}

const RETRY_FAILED = `kind: retry-failed
rules:
  - { match: [R01, R09], retry: next-business-day, atMost: 2 }
  - { match: [R02, R03], hold: vendor, payAgain: when-bank-account-changed, by: [controller] }
  - { match: anything-else, ask: [operator] }
giveUp: { after: 10 days, tell: [controller] }
`;
