import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClockReading } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { followedSinceMs } from "../domain/payments/return-window.ts";
import { LastingTrouble } from "../process/lasting-trouble.ts";
import type { Payment } from "../payments-api/index.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { getLatePass, keepLatePass, type LatePass } from "../store/late-passes.ts";
import { type Lease, releaseLease, takeLease } from "../store/leases.ts";
import { strangersLookedAfter, untoldStrangers } from "../store/strangers.ts";
import { isWatching, lateChanges, type SeenPayment } from "../store/sweep-watches.ts";
import { tellOf } from "../store/tellings.ts";
import { flagLooks } from "../store/watches.ts";
import { startOrTellRetry } from "../temporal/start.ts";
import type { SweeperContext } from "./context.ts";
import { lookAtDeposits } from "./late-deposits.ts";

/** Real time between two turns over all businesses. */
const TURN_EVERY_MS = 60_000;

/** Time on the business clock between the beginnings of two passes over a business's payments. */
const PASS_EVERY_MS = 6 * 3_600_000;

/** The same in real time at least, however fast a sandbox's clock runs: this many turns. */
const TURNS_BETWEEN = 5;

/** Most that a turn reads of one business: 36,000 pages a day, of 100 payments each. */
const PAGES_A_TURN = 25;

const PAGE_SIZE = 100;

/** A slow reader leaves the service to those who pay. */
const PAGE_PAUSE_MS = 200;

/** Longer than one page takes; it is taken anew before each. */
const LEASE_MS = 120_000;

/** Older failures have been dealt with by whoever made the payment. */
const RECENT_MS = 7 * 86_400_000;

/**
 * Looks again, by page and slowly, at everything that was paid within the return window: banks take
 * money back weeks after the run has ended, and where no webhook endpoint is registered nobody
 * would hear of it.
 *
 * Runs in one of the processes that share the store.
 *
 * @param everyMs real time between turns; a minute unless said
 */
export function startLateChanges(context: SweeperContext, everyMs = TURN_EVERY_MS): Repeated {
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

const LOOKS = "Looking again at what was paid";

export class LateChanges {
  readonly #context: SweeperContext;
  readonly #trouble: LastingTrouble;
  readonly #everyMs: number;
  readonly #pauseMs: number;
  readonly #lease: Lease = { name: "late-changes", holder: randomUUID() };

  constructor(context: SweeperContext, everyMs: number, pauseMs = PAGE_PAUSE_MS) {
    this.#context = context;
    this.#trouble = new LastingTrouble(context);
    this.#everyMs = everyMs;
    this.#pauseMs = pauseMs;
  }

  /** One turn over all businesses: a slice of the pass that is under way or due, of each. */
  async turn(signal: AbortSignal): Promise<void> {
    for (const profile of this.#context.profiles.all()) {
      if (signal.aborted || !(await this.#lead())) return;
      // A service that can't be read now is read at the next turn, from the same page on.
      const { businessId } = profile;
      await this.#trouble.watch({ businessId, step: LOOKS }, () => this.#look(profile, signal));
    }
  }

  async resign(): Promise<void> {
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
      // Where nothing is known, nothing has settled yet: the first pass is due a while later.
      const madeBefore = known === undefined ? null : new Date(begunBusinessMs).toISOString();
      pass = { ...begun, madeBefore };
      await keepLatePass(db, pass);
      if (madeBefore !== null) await this.#lookAtDeposits(profile);
    }
    if (pass !== undefined && pass.madeBefore !== null)
      await this.#read(profile, pass, now, signal);
  }

  #isDue(last: LatePass, now: ClockReading): boolean {
    const isBusinessTime = now.businessMs - last.begunBusinessMs >= PASS_EVERY_MS;
    return isBusinessTime && now.realMs - last.begunRealMs >= this.#everyMs * TURNS_BETWEEN;
  }

  /**
   * Reads a pass on, newest first: what is new comes before its beginning, and moves no page.
   * Each page that was read counts, whoever reads the next.
   */
  async #read(
    profile: BusinessProfile,
    pass: LatePass,
    now: ClockReading,
    signal: AbortSignal,
  ): Promise<void> {
    const { db } = this.#context.store;
    const businessMs = Math.floor(now.businessMs);
    const strangers = await strangersLookedAfter(db, profile.name);
    if (strangers.size === 0 && !(await isWatching(db, profile.businessId, businessMs))) {
      return keepLatePass(db, { ...pass, madeBefore: null });
    }
    const { payments } = this.#context.clientOf(profile.name);
    const sinceMs = followedSinceMs(businessMs);
    const filters = {
      createdAfter: new Date(sinceMs).toISOString(),
      createdBefore: pass.madeBefore ?? undefined,
    };
    for (let page = pass.nextPage; page < pass.nextPage + PAGES_A_TURN; page += 1) {
      const { items } = await payments.list({ ...filters, page, pageSize: PAGE_SIZE });
      await this.#tell(profile, items, businessMs);
      const theirs = items.filter(({ status }) => strangers.has(status));
      if (theirs.length > 0) await this.#tellOfStrangers(profile, theirs, businessMs);
      // A page may be shorter than asked for. Where the filter is not kept, age ends the pass.
      const isLast = items.length === 0 || Date.parse(items.at(-1)?.createdAt ?? "") < sinceMs;
      const madeBefore = isLast ? null : pass.madeBefore;
      await keepLatePass(db, { ...pass, madeBefore, nextPage: page + 1 });
      if (isLast || signal.aborted) return;
      await sleep(this.#pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || !(await this.#lead())) return;
    }
  }

  /** A token that may pay may not read the balance: payments are looked at all the same. */
  async #lookAtDeposits(profile: BusinessProfile): Promise<void> {
    await lookAtDeposits(this.#context, profile).catch((error: unknown) => {
      const fields = { business: profile.name, reason: reasonOf(error) };
      this.#context.log.info("deposits could not be read again", fields);
    });
  }

  async #tell(
    profile: BusinessProfile,
    page: readonly Payment[],
    businessMs: number,
  ): Promise<void> {
    const { store, temporal, log } = this.#context;
    const { businessId, name: business } = profile;
    const seen: SeenPayment[] = page.flatMap(({ id, payableId, status }) =>
      payableId === null || status === "completed" ? [] : [{ id, payableId }],
    );
    const changes = await lateChanges(store.db, businessId, seen, businessMs);
    const payableIds = changes.map(({ payableId }) => payableId);
    if (changes.length === 0) return;
    await store.transactionOf(businessId, async (trx) => {
      await flagLooks(trx, { businessId, payableIds });
      for (const { followedBy: workflowId } of changes) {
        if (workflowId !== null) tellOf(trx, businessId, { kind: "workflow", workflowId });
      }
    });
    for (const { payableId, followedBy } of changes) {
      log.warn("a settled payment has changed", { business, payableId });
      // What no run follows needs an owner.
      if (followedBy === null) await startOrTellRetry(temporal, business, payableId);
    }
  }

  /** Failures of payments that Payrun did not make, which no event has told of. */
  async #tellOfStrangers(
    { businessId, name: business }: BusinessProfile,
    theirs: readonly Payment[],
    businessMs: number,
  ): Promise<void> {
    const { store, temporal } = this.#context;
    const failed = theirs.flatMap(({ id, payableId, updatedAt }) => {
      const isRecent = businessMs - Date.parse(updatedAt ?? "") < RECENT_MS;
      return isRecent && payableId !== null ? [{ id, payableId }] : [];
    });
    for (const { payableId } of await untoldStrangers(store.db, businessId, failed)) {
      await startOrTellRetry(temporal, business, payableId);
    }
  }
}
