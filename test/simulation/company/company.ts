import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { newYorkInstant } from "../../../src/sandbox/payments/banking-days.ts";
import type { Book } from "../service/book.ts";
import {
  BREAKS,
  LIES,
  MORE_FAULTS,
  SERVICE_FAULTS,
  type ServiceFault,
  WITH_BREAK,
} from "../service/kinds.ts";
import { STORE_TROUBLES, type StoreTrouble } from "../store-troubles.ts";
import { TROUBLES, type Trouble } from "../troubles.ts";
import { Stream } from "../world/random.ts";
import { DOINGS, type Doing } from "./others.ts";
import { ACTS, type Act } from "./roster.ts";
import { choosePlaybooks, type PayingHabits } from "./playbooks.ts";
import { chooseTraits, type Trait } from "./traits.ts";

const DAY_MS = 86_400_000;
const PLENTY_CENTS = 1_000_000_00;
/** Cents of each bill that was paid before. */
const OLD_CENTS = 1_000;

/**
 * One in this many seeds has more bills than a lane sends at once, and a service that gets slow.
 */
const LARGE_EVERY = 20;
/** One in this many has more bills than all lanes send at once, so that some wait in a queue. */
const CROWD_EVERY = 100;
/** Least duration of the troubles if a fault takes long by itself. */
const LONG_TROUBLE_MS = 5_400_000;
const LARGE_FAULTS: readonly ServiceFault[] = ["slow", "cut-off"];

interface Process {
  readonly id: string;
  readonly skewMs: number;
}

/** What a seed chooses before it begins: the company, its clocks, and the possible troubles. */
export class Company {
  readonly startsMs: number;
  /** How long faults last; afterwards everything works. */
  readonly troubleMs: number;
  /** Bank seconds in a real second; 1 for real clocks. */
  readonly scale: number;
  readonly serviceSkewMs: number;
  readonly failures: number;
  /** How often the outcome of a payment is also that of the next payment of its bill. */
  readonly sameAgain: number;
  readonly traits: ReadonlySet<Trait>;
  /** True if the service does what the ledger can't be safe against. */
  readonly breaksEnvelope: boolean;
  /** True if the service says what is not true. */
  readonly isLiedTo: boolean;
  /** How often each read then lies. */
  readonly liesShare: number;
  /** Days for which the company's own bank account has no money. */
  readonly emptyDays: number;
  readonly #shortShare: number | undefined;
  /** Milliseconds that each read always takes. */
  readonly readMs: number;
  readonly #oldPayments: number;
  /** How often the safety net looks; the default is a minute. */
  readonly janitorEveryMs: number;
  /** False if no webhook endpoint is registered. */
  readonly hasWebhooks: boolean;
  /** True if the service lists the endpoint and its deliveries. */
  readonly listsDeliveries: boolean;
  readonly faults: Set<ServiceFault>;
  readonly troubles: Set<Trouble>;
  /** At most one of them, because a restored store has lost more than a power cut takes. */
  readonly storeTroubles: ReadonlySet<StoreTrouble>;
  /** What can't be read of the first bill, if anything can't be. */
  readonly poisons: "bill" | "payments" | "vendor";
  /** True if that comes with an absurd field. */
  readonly isAbsurd: boolean;
  /** True if the service holds some payments for review before they run. */
  readonly reviews: boolean;
  readonly acts: ReadonlySet<Act>;
  /** What other people do at the service. */
  readonly doings: ReadonlySet<Doing>;
  /** A process that no trouble strikes. */
  readonly steady: string | undefined;
  /** How long after its arrival this service may still carry out a request. */
  readonly latestMs: number;
  readonly paying: PayingHabits;
  readonly habits: { readonly guardsInFlight: boolean; readonly splitOverCents: number };
  readonly workers: readonly Process[];
  readonly gateways: readonly Process[];
  readonly profile: BusinessProfile;
  readonly #bills: Stream;
  /** True if the service can't be reached for a while. */
  readonly hasOutage: boolean;
  readonly #isLarge: boolean;
  readonly #isCrowd: boolean;

  constructor(seed: number) {
    const clocks = new Stream(seed, "clocks");
    const start = new Stream(seed, "start");
    const dayMs = Date.UTC(2027, start.between(0, 11), start.between(1, 28));
    this.startsMs = dayMs + hourOf(start, dayMs);
    const isLarge = seed % LARGE_EVERY === 7;
    this.scale = !isLarge && clocks.chance(0.2) ? clocks.pick([1_800, 3_600]) : 1;
    const skew = (): number =>
      this.scale === 1 && clocks.chance(0.5) ? clocks.between(-600_000, 600_000) : 0;
    this.serviceSkewMs =
      this.scale === 1 && clocks.chance(0.3) ? clocks.between(-60_000, 60_000) : 0;
    this.workers = ["worker-1", "worker-2"].map((id) => ({ id, skewMs: skew() }));
    this.gateways = ["gateway-1", "gateway-2"].map((id) => ({ id, skewMs: skew() }));
    this.hasWebhooks = clocks.chance(0.7);
    const janitorEveryMs = clocks.pick([60_000, 300_000, 600_000]);
    // With a longer interval a return could be forgotten before it is seen, as hours are months
    // there.
    this.janitorEveryMs = this.scale === 1 ? janitorEveryMs : 60_000;
    const swarm = new Stream(seed, "swarm");
    this.faults = new Set(SERVICE_FAULTS.filter(() => swarm.chance(isLarge ? 0.05 : 0.3)));
    if (isLarge) for (const kind of LARGE_FAULTS) this.faults.add(kind);
    for (const kind of MORE_FAULTS) {
      if (new Stream(seed, `more ${kind}`).chance(isLarge ? 0.05 : 0.2)) this.faults.add(kind);
    }
    this.poisons = new Stream(seed, "poison").pick(["bill", "payments", "vendor"] as const);
    this.isAbsurd = new Stream(seed, "poison's form").chance(0.6);
    const isCrowd = seed % CROWD_EVERY === 7;
    this.#isCrowd = isCrowd;
    this.steady = isCrowd || swarm.chance(0.3) ? "worker-2" : undefined;
    this.latestMs = swarm.pick(isLarge ? [60_000, 120_000] : [120_000, 300_000, 1_800_000]);
    this.troubles = new Set(TROUBLES.filter(() => swarm.chance(isLarge ? 0.1 : 0.35)));
    if (isLarge) this.troubles.add("freeze");
    const losses = new Stream(seed, "losses");
    const loses = !isLarge && losses.chance(0.2);
    this.storeTroubles = new Set(loses ? [losses.pick(STORE_TROUBLES)] : []);
    const acts = new Set<Act>(ACTS.filter(() => swarm.chance(isLarge ? 0.05 : 0.2)));
    if (new Stream(seed, "stops").chance(isLarge ? 0.05 : 0.2)) acts.add("stop");
    this.acts = acts;
    const others = new Stream(seed, "others of the company");
    this.doings = new Set(DOINGS.filter(() => others.chance(isLarge ? 0.05 : 0.15)));
    const traits = isLarge ? new Set<Trait>() : chooseTraits(seed);
    this.traits = traits;
    this.listsDeliveries = this.hasWebhooks && traits.has("lists-deliveries");
    this.reviews = traits.has("reviewed");
    this.breaksEnvelope = this.scale === 1 && traits.has("breaks-envelope");
    this.isLiedTo = traits.has("lied");
    this.liesShare = new Stream(seed, "how often it lies").pick([0.4, 0.15, 0.03]);
    if (this.isLiedTo) this.faults.add(LIES);
    if (this.breaksEnvelope) {
      const broken = new Stream(seed, "breaks").pick(BREAKS);
      for (const kind of [broken, ...WITH_BREAK[broken]]) this.faults.add(kind);
    }
    this.paying = choosePlaybooks(
      new Stream(seed, "playbooks"),
      traits,
      new Stream(seed, "limits"),
      new Stream(seed, "sums of rules"),
    );
    const money = new Stream(seed, "money of the company");
    this.#shortShare = traits.has("short-balance") ? money.between(20, 90) / 100 : undefined;
    this.emptyDays = traits.has("empty-account") ? money.between(2, 8) : 0;
    const troubleMs = swarm.pick([600_000, 1_800_000, 3 * 3_600_000, isLarge ? 600_000 : DAY_MS]);
    // Where something is looked at every few seconds, a day of trouble would take too many steps.
    const isWatched = this.faults.has("poison") || this.scale !== 1;
    const hasOutage = traits.has("outage") && !isWatched;
    const isLong = hasOutage || this.breaksEnvelope || this.isLiedTo;
    const leastMs = isLong ? LONG_TROUBLE_MS : 0;
    this.troubleMs = isWatched ? 600_000 : Math.max(troubleMs, leastMs);
    this.hasOutage = hasOutage;
    // A service with slow reads and many old payments to read.
    const isAncient = isLarge && !isCrowd && swarm.chance(0.2);
    this.readMs = isAncient ? swarm.between(2_000, 6_000) : 0;
    this.#oldPayments = isAncient ? swarm.between(200, 600) : swarm.stretched(1, 30) - 1;
    if (isAncient) this.faults.add("small-pages");
    const failures = swarm.chance(0.3) ? 0.4 : 0;
    const bounces = traits.has("bounces");
    this.failures = bounces ? 0.9 : failures;
    this.sameAgain = bounces ? 0.9 : 0.6;
    // Returned payments must be tried again, and not be stopped before.
    if (bounces)
      for (const act of ["cancel", "reject", "take-back", "stop"] as const) acts.delete(act);
    if (bounces) acts.add("resolve");
    this.habits = {
      guardsInFlight: swarm.chance(0.3) && !this.breaksEnvelope,
      splitOverCents: swarm.chance(0.5) ? swarm.pick([4_000, 7_000]) : 10_000_000,
    };
    this.#isLarge = isLarge;
    this.#bills = new Stream(seed, "bills");
    this.profile = {
      name: "acme",
      apiUrl: "http://service.test",
      businessId: "biz_1",
      token: { kind: "value", value: "token-of-the-business" },
      webhookSecrets: ["whsec_simulation"],
      achAuthorization: { acceptedBy: "olga", acceptedAt: "2027-01-01" },
      sandbox: this.scale !== 1,
    };
  }

  fill(book: Book): void {
    const lots = this.#bills;
    const most = this.#isCrowd ? lots.between(90, 110) : lots.between(22, 40);
    const isTight = this.traits.has("tight-limit") || this.traits.has("adds-up");
    const few = (): number => Math.max(lots.between(1, 8), isTight ? 5 : 1);
    const count = this.#isLarge ? most : few();
    const vendors = isTight ? 1 : this.#isLarge ? count : lots.between(1, count);
    for (let number = 1; number <= vendors; number += 1) {
      book.contacts.set(`con_${number}`, {
        id: `con_${number}`,
        displayName: `Vendor ${number}`,
        status: "active",
        last4: String(1_000 + number),
        updatedMs: null,
        movedMs: 0,
        editedMs: 0,
      });
    }
    for (let number = 1; number <= count; number += 1) {
      const id = `bill_${number}`;
      const contactId = `con_${lots.between(1, vendors)}`;
      const totalCents = lots.between(10, 200) * 100;
      book.payables.set(id, {
        id,
        contactId,
        status: "approved",
        totalCents,
        totals: [{ fromMs: 0, cents: totalCents }],
        dueDate: dateOf(this.startsMs + lots.stretched(1, 10) * DAY_MS),
        issueDate: dateOf(this.startsMs - 20 * DAY_MS),
      });
    }
    for (let number = 1; number <= this.#oldPayments; number += 1) {
      const paidMs = this.startsMs - lots.between(3, 400) * DAY_MS;
      book.payments.push({
        id: `pay_old${number}`,
        payableId: `bill_old${number}`,
        contactId: `con_${lots.between(1, vendors)}`,
        amountCents: OLD_CENTS,
        rail: "SERVICE",
        bankAccountId: null,
        scheduledMs: paidMs,
        createdMs: paidMs,
        shownMs: 0,
        key: null,
        status: "completed",
        updatedMs: paidMs,
        processedMs: paidMs,
        failureReason: null,
      });
    }
    book.balanceCents = this.#balanceCents(book);
  }

  /** Plenty, or less than the sum of the bills; earlier payments have left the balance already. */
  #balanceCents(book: Book): number {
    if (this.#shortShare === undefined) return PLENTY_CENTS;
    const bills = [...book.payables.values()].reduce((sum, each) => sum + each.totalCents, 0);
    return this.#oldPayments * OLD_CENTS + Math.ceil((bills * this.#shortShare) / 100) * 100;
  }
}

/**
 * Mostly the middle of a day; some seeds start shortly before midnight in New York, or before 9:00.
 */
function hourOf(lots: Stream, dayMs: number): number {
  const midnightMs = newYorkInstant(dateOf(dayMs), "00:00") - dayMs;
  const kind = lots.between(0, 5);
  if (kind === 0) return midnightMs - lots.between(30_000, 600_000);
  if (kind === 1) return midnightMs + 9 * 3_600_000 - lots.between(-60_000, 600_000);
  return lots.between(0, 86_399) * 1_000;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
