import type { Stream } from "../world/random.ts";
import type { Trait } from "./traits.ts";

/** A playbook that the company has stored. */
export interface StoredText {
  readonly name: string;
  readonly text: string;
}

/** How this company pays, by its playbooks. */
export interface PayingHabits {
  readonly playbooks: readonly StoredText[];
  /** Pay runs, launched in this order. */
  readonly launches: readonly string[];
  /** True if there is no pause between two launches. */
  readonly atOnce: boolean;
  readonly quorum: number;
  /** Amounts above which only the owner's approval counts; none if all bills need the same. */
  readonly ownerOverCents: ReadonlyMap<string, number>;
  /** Amounts above which only the owner's approval counts, for a vendor's bills added up. */
  readonly ownerOverSums: ReadonlyMap<string, OverSum>;
  /** True if large bills are withheld until a person releases them. */
  readonly withholdsLarge: boolean;
  /** Limits of all pay runs together; none if no playbook names one. */
  readonly limits: {
    readonly billCents: number | undefined;
    readonly vendorPerWeekCents: number | undefined;
    readonly businessPerWeekCents: number | undefined;
  };
}

/** A sum of what a vendor is paid: in a run, or in a week by all runs. */
export interface OverSum {
  readonly cents: number;
  readonly per: "vendor" | "vendor-week";
}

/** Bills above this are withheld or cancelled, if the company has such a playbook. */
export const LARGE_CENTS = 9_000;

const LARGE_BILLS = `payable.amountCents > ${LARGE_CENTS}`;

/** Bills above this need an owner's approval, if a playbook says so. */
const OWNER_OVER_CENTS = 10_000;

/** Chooses the contents of a company's playbooks. */
export function choosePlaybooks(
  lots: Stream,
  traits: ReadonlySet<Trait>,
  more: Stream,
  sums: Stream,
): PayingHabits {
  const isTight = traits.has("tight-limit");
  const addsUp = traits.has("adds-up");
  // Two runs plan a vendor's bills at once, under a limit or a rule that covers only some.
  const isPaired = isTight || addsUp;
  // Where a sum decides who approves, one approval is enough under each rule.
  const quorum = lots.chance(0.25) && !addsUp ? 2 : 1;
  const bounces = traits.has("bounces");
  const drawn = lots.chance(isTight ? 1 : 0.3) ? lots.between(80, 300) : undefined;
  const limit = bounces && !isTight ? undefined : drawn;
  const hasMore = traits.has("more-limits") && !bounces;
  const limits = {
    billCents: hasMore ? more.between(60, 190) * 100 : undefined,
    vendorPerWeekCents: limit === undefined ? undefined : limit * 100,
    businessPerWeekCents: hasMore ? more.between(150, 600) * 100 : undefined,
  };
  const names = lots.chance(isPaired ? 1 : 0.3) ? ["weekly", "monthly"] : ["weekly"];
  // Two runs select the same bills, or each has some of a vendor's.
  const shares = names.length > 1 && lots.chance(isPaired ? 1 : 0.6);
  const overSum = addsUp ? overSumOf(sums) : undefined;
  const runs = names.map((name, at) => {
    const where = shares && at === 0 ? LARGE_BILLS : undefined;
    const from = sourceOf(traits);
    const says = { quorum, limits, where, from, isLasting: bounces, overSum };
    return { name, ...payRun(lots, says) };
  });
  const playbooks = runs.map(({ name, text }): StoredText => ({ name, text }));
  const retries = lots.chance(0.3);
  if (traits.has("empty-account")) playbooks.push({ name: "retry-failed", text: PAUSE_ACCOUNT });
  else if (retries) playbooks.push({ name: "retry-failed", text: RETRY_FAILED });
  if (traits.has("withholds")) playbooks.push({ name: "withhold-large", text: WITHHOLD_LARGE });
  if (traits.has("cancels-by-playbook")) playbooks.push(CANCEL_LARGE);
  const plansBeside = traits.has("plans-beside");
  if (plansBeside) playbooks.push(PLANS_BESIDE);
  const owners = runs.filter(({ needsOwner }) => needsOwner);
  return {
    playbooks,
    // It comes first, so that it plans what the other runs then pay.
    launches: plansBeside ? [PLANS_BESIDE.name, ...names] : names,
    atOnce: isPaired,
    quorum,
    ownerOverCents: new Map(owners.map(({ name }) => [name, OWNER_OVER_CENTS])),
    ownerOverSums: new Map(
      names.flatMap((name) => (overSum === undefined ? [] : [[name, overSum]])),
    ),
    withholdsLarge: traits.has("withholds"),
    limits,
  };
}

function overSumOf(lots: Stream): OverSum {
  const per = lots.chance(0.8) ? "vendor-week" : "vendor";
  return { cents: lots.between(100, 300) * 100, per };
}

/** Returns the part of `pay:` that names the source; empty for the balance, the default. */
function sourceOf(traits: ReadonlySet<Trait>): string {
  if (traits.has("short-balance")) {
    return ", from: balance, whenShort: most-urgent-first, topUp: { by: [owner], atMost: $50k }";
  }
  return traits.has("empty-account") ? ", from: bank_main" : "";
}

interface Says {
  readonly quorum: number;
  readonly limits: PayingHabits["limits"];
  /** Selects the bills that it pays; undefined for all. */
  readonly where: string | undefined;
  readonly from: string;
  /** True if approvals are valid as long as anything may be tried again. */
  readonly isLasting: boolean;
  /** The sum above which a bill needs the owner's approval. */
  readonly overSum: OverSum | undefined;
}

function payRun(
  lots: Stream,
  { quorum, limits, where, from, isLasting, overSum }: Says,
): { readonly text: string; readonly needsOwner: boolean } {
  const lines = ["kind: pay-run", "select: { due: all }"];
  if (where !== undefined) lines.push(`where: ${where}`);
  const pays = ["on: next-business-day", "on: arrives-by-due-date"];
  lines.push(`pay: { ${lots.pick(pays)}${from} }`);
  lines.push("review: [changed-bank-account]");
  const rules = [`  - { by: [controller, owner], quorum: ${quorum} }`];
  const needsOwner = lots.chance(0.2) && overSum === undefined;
  if (needsOwner) rules.unshift(`  - { over: $${OWNER_OVER_CENTS / 100}, by: [owner] }`);
  if (overSum !== undefined) {
    const over = `{ amount: $${overSum.cents / 100}, per: ${overSum.per} }`;
    rules.unshift(`  - { over: ${over}, by: [owner] }`);
  }
  lines.push("approve:", ...rules);
  const named = [
    ["bill", limits.billCents],
    ["vendorPerWeek", limits.vendorPerWeekCents],
    ["businessPerWeek", limits.businessPerWeekCents],
  ] as const;
  const said = named.flatMap(([name, cents]) =>
    cents === undefined ? [] : [`${name}: $${cents / 100}`],
  );
  if (said.length > 0) lines.push(`limits: { ${said.join(", ")} }`);
  const validDays = lots.chance(0.35) ? lots.pick([1, 1, 2, 5]) : undefined;
  if (validDays !== undefined && !isLasting) lines.push(`approvalValid: ${validDays} days`);
  lines.push(`late: ${lots.pick(["ask", "next-business-day"])}`);
  return { text: `${lines.join("\n")}\n`, needsOwner };
}

const RETRY_FAILED = `kind: retry-failed
rules:
  - { match: [R01, R09], retry: next-business-day, atMost: 2 }
  - { match: [R02, R03], hold: vendor, payAgain: when-bank-account-changed, by: [controller] }
  - { match: anything-else, ask: [operator] }
giveUp: { after: 10 days, tell: [controller] }
`;

const PAUSE_ACCOUNT = `kind: retry-failed
rules:
  - { match: [R01, R09], pause: funding-account, retry: when-released, by: [controller], atMost: 2 }
  - { match: anything-else, ask: [operator] }
giveUp: { after: 10 days, tell: [controller] }
`;

const WITHHOLD_LARGE = `kind: hold
choose: { where: ${LARGE_BILLS} }
unless: { releasedBy: [controller], until: "17:00 business day before" }
`;

/** Plans the same bills as the other runs, and never sends anything. */
export const PLANS_BESIDE: StoredText = {
  name: "beside",
  text: `kind: pay-run
schedule: { every: day, mode: plan-only }
select: { due: all }
pay: { on: next-business-day }
approve:
  - { by: [controller, owner] }
`,
};

/** Cancels the scheduled payments of large bills, when it is launched. */
export const CANCEL_LARGE: StoredText = {
  name: "cancel-large",
  text: `kind: cancel-scheduled
choose: { where: ${LARGE_BILLS} }
`,
};
