import { randomUUID } from "node:crypto";
import { HOUR_MS } from "../contracts/durations.ts";
import type { ClockReading } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { LastingTrouble } from "../process/lasting-trouble.ts";
import { OneEach } from "../process/one-each.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { getLatePass, keepLatePass, type LatePass } from "../store/janitor/late-passes.ts";
import { type Lease, releaseLease, takeLease } from "../store/sql/leases.ts";
import type { JanitorContext } from "./context.ts";
import { LatePages } from "./late-pages.ts";
import { mayReturnSinceMs } from "../domain/payments/return-window.ts";
import { takenBack } from "../domain/deposits/transactions.ts";
import { arrivedTopUps, recordReturned } from "../store/deposits/returned-deposits.ts";

/** Real time between two turns over all businesses. */
const TURN_EVERY_MS = 60_000;

/** Time on the business clock between the beginnings of two passes over a business's payments. */
const PASS_EVERY_MS = 6 * HOUR_MS;

/**
 * The least number of turns between two passes, in real time, however fast a sandbox's clock runs.
 */
const TURNS_BETWEEN = 5;

/** Longer than one page takes; the lease is renewed before each page. */
const LEASE_MS = 120_000;

/**
 * Looks again, by page and slowly, at everything that was paid within the return window: banks take
 * money back weeks after the run has ended, and without a registered webhook endpoint nothing would
 * report it.
 *
 * Runs in one of the processes that share the store.
 *
 * @param everyMs real time between turns; a minute by default
 */
export function startLateChanges(context: JanitorContext, everyMs = TURN_EVERY_MS): Repeated {
  const watch = new LateChanges(context, everyMs);
  const turning = repeat(
    async (signal) => {
      await watch.turn(signal);
      return everyMs;
    },
    (error) => {
      context.log.warn("late changes could not be looked for", { reason: reasonOf(error) });
      return everyMs;
    },
  );
  return {
    stop: async () => {
      await turning.stop();
      await watch.resign();
    },
  };
}

/** How long a turn waits for a slow business, which then goes on beside the next turns. */
const BUSINESS_WAITS_MS = 30_000;

export class LateChanges {
  readonly #context: JanitorContext;
  readonly #trouble: LastingTrouble;
  readonly #everyMs: number;
  readonly #pages: LatePages;
  readonly #lease: Lease = { name: "late-changes", holder: randomUUID() };
  readonly #looks = new OneEach();

  constructor(context: JanitorContext, everyMs: number, pauseMs?: number) {
    this.#context = context;
    this.#trouble = new LastingTrouble(context);
    this.#everyMs = everyMs;
    this.#pages = new LatePages(context, () => this.#lead(), pauseMs);
  }

  /** Makes one turn over all businesses: for each, a slice of the pass that is under way or due. */
  async turn(signal: AbortSignal): Promise<void> {
    if (!(await this.#lead())) return;
    const looks = this.#context.profiles.all().map((profile) => {
      const { businessId } = profile;
      // A service that can't be read now is read at the next turn, from the same page on.
      const watched = { businessId, step: "Looking again at what was paid" };
      const look = () => this.#trouble.watch(watched, () => this.#look(profile, signal));
      return this.#looks.begin(businessId, look, BUSINESS_WAITS_MS);
    });
    await Promise.all(looks);
  }

  async resign(): Promise<void> {
    await this.#looks.ended();
    await releaseLease(this.#context.store.db, this.#lease).catch(() => undefined);
  }

  #lead(): Promise<boolean> {
    return takeLease(this.#context.store.db, this.#lease, LEASE_MS);
  }

  async #look(profile: BusinessProfile, signal: AbortSignal): Promise<void> {
    const { db } = this.#context.store;
    const now = await this.#context.clockOf(profile.name).now();
    const known = await getLatePass(db, profile.businessId);
    let pass = known;
    if (known === undefined || known.madeBefore === null) {
      if (known !== undefined && !this.#isDue(known, now)) return;
      const { businessMs: begunBusinessMs, realMs: begunRealMs } = now;
      const begun = { businessId: profile.businessId, begunBusinessMs, begunRealMs, nextPage: 1 };
      // If no pass is known, nothing has settled yet: the first pass is due a while later.
      const madeBefore = known === undefined ? null : new Date(begunBusinessMs).toISOString();
      pass = { ...begun, madeBefore };
      await keepLatePass(db, pass);
      if (madeBefore !== null) await lookAtDeposits(this.#context, profile);
    }
    if (pass !== undefined && pass.madeBefore !== null) {
      await this.#pages.read(profile, pass, now.businessMs, signal);
    }
  }

  #isDue(last: LatePass, now: ClockReading): boolean {
    const isBusinessTime = now.businessMs - last.begunBusinessMs >= PASS_EVERY_MS;
    return isBusinessTime && now.realMs - last.begunRealMs >= this.#everyMs * TURNS_BETWEEN;
  }
}

/**
 * Looks again at the deposits that have arrived within the return window: a bank takes them back
 * like any debit, and no event reports it. A token that may pay may not be allowed to read the
 * balance: that is then logged, and nothing else suffers.
 */
async function lookAtDeposits(context: JanitorContext, profile: BusinessProfile): Promise<void> {
  await read(context, profile).catch((error: unknown) => {
    const fields = { business: profile.name, reason: reasonOf(error) };
    context.log.info("deposits could not be read again", fields);
  });
}

async function read(
  context: JanitorContext,
  { businessId, name: business }: BusinessProfile,
): Promise<void> {
  const { store, log } = context;
  const clock = await context.clockOf(business).now();
  const arrived = await arrivedTopUps(store.db, businessId, mayReturnSinceMs(clock.businessMs));
  if (arrived.length === 0) return;
  const missing = new Map(arrived.map((topUp) => [topUp.transactionId, topUp]));
  for await (const page of context.clientOf(business).balance.transactions.iteratePages()) {
    for (const shown of page) {
      const topUp = missing.get(shown.id);
      missing.delete(shown.id);
      const reason = takenBack(shown);
      if (topUp === undefined || reason === null) continue;
      log.warn("the bank has taken back a deposit", { business, deposit: topUp.subject });
      await store.transactionOf(businessId, (trx) => recordReturned(trx, topUp, reason, clock));
    }
    if (missing.size === 0) return;
  }
}
