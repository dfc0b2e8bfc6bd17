import { Stream } from "../world/random.ts";

/**
 * What a few companies have beside everything else, and how many of them: what needs several things
 * to come together would hardly ever be seen otherwise.
 */
const SHARES = {
  /** Nearly all payments come back, mostly for the same reason again, and people try them again. */
  bounces: 0.08,
  /** Two runs plan the bills of one vendor at once, under a limit that covers only some of them. */
  "tight-limit": 0.08,
  /** The service can't be reached for longer than a key may be asked again without a look. */
  outage: 0.08,
  /** Workers freeze between the gate and the first byte. */
  "late-to-leave": 0.08,
  /** The balance covers only some of the bills, and a deposit may be asked for. */
  "short-balance": 0.08,
  /** Bills above an amount are withheld until a controller releases them. */
  withholds: 0.08,
  /** Somebody takes all that is scheduled above an amount back, by a playbook. */
  "cancels-by-playbook": 0.06,
  /** Somebody pays single bills, or parts of them, beside the runs. */
  "off-cycle": 0.08,
  /** What is paid from the bank account bounces for days: there is no money in it. */
  "empty-account": 0.06,
  /** Some payments are held by the service for review, for hours or days. */
  reviewed: 0.08,
  /** A schedule plans the same bills and only tells: a company that runs Payrun beside what it has. */
  "plans-beside": 0.08,
  /** Bills, and what the business pays in a week, are limited. */
  "more-limits": 0.08,
  /** The service lists the webhook endpoint and what it has delivered, and pauses it now and then. */
  "lists-deliveries": 0.1,
  /** The service does what the ledger can't be safe against, and only has to be loud about. */
  "breaks-envelope": 0.06,
} as const;
export type Trait = keyof typeof SHARES;

/** Each has a stream of its own, so that one more changes no seed that doesn't have it. */
export function chooseTraits(seed: number): ReadonlySet<Trait> {
  const names = Object.keys(SHARES) as Trait[];
  return new Set(names.filter((name) => new Stream(seed, `trait ${name}`).chance(SHARES[name])));
}
