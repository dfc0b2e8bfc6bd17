import { Stream } from "../world/random.ts";

/**
 * Traits that a few companies have in addition, and the share of companies with each. Without them,
 * situations that need several things together would hardly ever occur.
 */
const SHARES = {
  /** Nearly all payments are returned, mostly for the same reason again, and people retry them. */
  bounces: 0.08,
  /** Two runs plan the bills of one vendor at once, under a limit that covers only some of them. */
  "tight-limit": 0.08,
  /** Two runs pay one vendor, and what it gets besides decides whose approval a bill needs. */
  "adds-up": 0.06,
  /** The service can't be reached for longer than a key may be sent again without a lookup. */
  outage: 0.08,
  /** Workers freeze between the gate and the first byte. */
  "late-to-leave": 0.08,
  /** The balance covers only some of the bills, and a deposit may be proposed. */
  "short-balance": 0.08,
  /** Bills above an amount are withheld until a controller releases them. */
  withholds: 0.08,
  /** A person cancels by a playbook all scheduled payments above an amount. */
  "cancels-by-playbook": 0.06,
  /** A person pays single bills, or parts of them, off-cycle. */
  "off-cycle": 0.08,
  /** Payments from the bank account bounce for days, because it has no money. */
  "empty-account": 0.06,
  /** The service holds some payments for review, for hours or days. */
  reviewed: 0.08,
  /** A schedule only plans the same bills: the company runs Payrun beside its old system. */
  "plans-beside": 0.08,
  /** Bills, and what the business pays in a week, are limited. */
  "more-limits": 0.08,
  /** The service lists the webhook endpoint and its deliveries, and pauses it now and then. */
  "lists-deliveries": 0.1,
  /** The service does what the ledger can't be safe against and must only report. */
  "breaks-envelope": 0.06,
  /** The service's answers to reads and writes say what is not true. */
  lied: 0.08,
} as const;
export type Trait = keyof typeof SHARES;

/** Each trait has a stream of its own, so that a new one changes no seed without it. */
export function chooseTraits(seed: number): ReadonlySet<Trait> {
  const names = Object.keys(SHARES) as Trait[];
  return new Set(names.filter((name) => new Stream(seed, `trait ${name}`).chance(SHARES[name])));
}
