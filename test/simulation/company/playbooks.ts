import type { Stream } from "../world/random.ts";
import type { Trait } from "./traits.ts";

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
  /** True where nobody waits between two launches. */
  readonly atOnce: boolean;
  readonly quorum: number;
  /** Above this only the owner's approval counts; none where all bills need the same. */
  readonly ownerOverCents: ReadonlyMap<string, number>;
  /** True where large bills are withheld until somebody releases them. */
  readonly withholdsLarge: boolean;
  /** What all pay runs together may pay; none where a playbook names no limit. */
  readonly limits: {
    readonly billCents: number | undefined;
    readonly vendorPerWeekCents: number | undefined;
    readonly businessPerWeekCents: number | undefined;
  };
}

/** Bills above this are withheld, or taken back, where the company has such a playbook. */
export const LARGE_CENTS = 9_000;

const LARGE_BILLS = `payable.amountCents > ${LARGE_CENTS}`;

/** Above this an owner has to approve, where a playbook says so. */
const OWNER_OVER_CENTS = 10_000;

/** Chooses what a company's playbooks say. */
export function choosePlaybooks(
  lots: Stream,
  traits: ReadonlySet<Trait>,
  more: Stream,
): PayingHabits {
  // Two runs plan a vendor's bills at once, under a limit that covers only some.
  const isTight = traits.has("tight-limit");
  const quorum = lots.chance(0.25) ? 2 : 1;
  const bounces = traits.has("bounces");
  const drawn = lots.chance(isTight ? 1 : 0.3) ? lots.between(80, 300) : undefined;
  const limit = bounces && !isTight ? undefined : drawn;
  const hasMore = traits.has("more-limits") && !bounces;
  const limits = {
    billCents: hasMore ? more.between(60, 190) * 100 : undefined,
    vendorPerWeekCents: limit === undefined ? undefined : limit * 100,
    businessPerWeekCents: hasMore ? more.between(150, 600) * 100 : undefined,
  };
  const names = lots.chance(isTight ? 1 : 0.3) ? ["weekly", "monthly"] : ["weekly"];
  // Two runs want the same bills, or each has some of a vendor's.
  const shares = names.length > 1 && lots.chance(isTight ? 1 : 0.6);
  const runs = names.map((name, at) => {
    const where = shares && at === 0 ? LARGE_BILLS : undefined;
    const from = sourceOf(traits);
    return { name, ...payRun(lots, { quorum, limits, where, from, isLasting: bounces }) };
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
    // First, so that it plans what the others then pay.
    launches: plansBeside ? [PLANS_BESIDE.name, ...names] : names,
    atOnce: isTight,
    quorum,
    ownerOverCents: new Map(owners.map(({ name }) => [name, OWNER_OVER_CENTS])),
    withholdsLarge: traits.has("withholds"),
    limits,
  };
}

/** What `pay:` says of where the money comes from; empty for the balance, which is the default. */
function sourceOf(traits: ReadonlySet<Trait>): string {
  if (traits.has("short-balance")) {
    return ", from: balance, whenShort: most-urgent-first, topUp: { by: [owner], atMost: $50k }";
  }
  return traits.has("empty-account") ? ", from: bank_main" : "";
}

interface Says {
  readonly quorum: number;
  readonly limits: PayingHabits["limits"];
  /** Which bills it pays; all where it names none. */
  readonly where: string | undefined;
  readonly from: string;
  /** True where approvals last for all that may be tried again. */
  readonly isLasting: boolean;
}

function payRun(
  lots: Stream,
  { quorum, limits, where, from, isLasting }: Says,
): { readonly text: string; readonly needsOwner: boolean } {
  const lines = ["kind: pay-run", "select: { due: all }"];
  if (where !== undefined) lines.push(`where: ${where}`);
  const pays = ["on: next-business-day", "on: arrives-by-due-date"];
  lines.push(`pay: { ${lots.pick(pays)}${from} }`);
  lines.push("review: [changed-bank-account]");
  const rules = [`  - { by: [controller, owner], quorum: ${quorum} }`];
  const needsOwner = lots.chance(0.2);
  if (needsOwner) rules.unshift(`  - { over: $${OWNER_OVER_CENTS / 100}, by: [owner] }`);
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

/** Plans what the others pay; nothing is ever sent for it. */
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

/** Launched now and then: takes back what the service has scheduled of the large bills. */
export const CANCEL_LARGE: StoredText = {
  name: "cancel-large",
  text: `kind: cancel-scheduled
choose: { where: ${LARGE_BILLS} }
`,
};
