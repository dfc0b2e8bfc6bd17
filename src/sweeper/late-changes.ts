import { setTimeout as sleep } from "node:timers/promises";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { Payment } from "../payments-api/index.ts";
import { isWatching, lateChanges, type SeenPayment } from "../store/sweep-watches.ts";
import { strangersLookedAfter, untoldStrangers } from "../store/strangers.ts";
import { flagLooks } from "../store/watches.ts";
import { startOrTellRetry } from "../temporal/start.ts";
import { reasonOf } from "../process/repeat.ts";
import type { SweeperContext } from "./context.ts";
import { lookAtDeposits } from "./late-deposits.ts";

/** Time on the business clock between two passes over a business's payments. */
const PASS_EVERY_MS = 6 * 3_600_000;

/** The same in real time at least, however fast a sandbox's clock runs: this many sweeps. */
const SWEEPS_BETWEEN = 5;

/** Older failures have been dealt with by whoever made the payment. */
const RECENT_MS = 7 * 86_400_000;

/** A slow reader leaves the service to those who pay. */
const PAGE_PAUSE_MS = 200;

/**
 * Looks again, by page and slowly, at everything that settled within the return window: banks take
 * money back weeks after the run has ended, and where no webhook endpoint is registered nobody
 * would hear of it.
 */
export class LateChanges {
  readonly #context: SweeperContext;
  readonly #everyRealMs: number;
  readonly #lastPass = new Map<string, { readonly businessMs: number; readonly realMs: number }>();

  constructor(context: SweeperContext, sweepEveryMs: number) {
    this.#context = context;
    this.#everyRealMs = sweepEveryMs * SWEEPS_BETWEEN;
  }

  /**
   * Makes a pass over one business where one is due; the first is due a while after the start, so
   * that a process which restarts often doesn't read everything each time.
   */
  async look(profile: BusinessProfile, signal: AbortSignal): Promise<void> {
    const now = await this.#context.clockOf(profile.name).now();
    const last = this.#lastPass.get(profile.name);
    this.#lastPass.set(profile.name, last ?? now);
    if (last === undefined || now.businessMs - last.businessMs < PASS_EVERY_MS) return;
    if (now.realMs - last.realMs < this.#everyRealMs) return;
    this.#lastPass.set(profile.name, now);
    await this.#lookAtDeposits(profile);
    const { businessId } = profile;
    const businessMs = Math.floor(now.businessMs);
    const { db } = this.#context.store;
    const strangers = await strangersLookedAfter(db, profile.name);
    if (strangers.size === 0 && !(await isWatching(db, businessId, businessMs))) return;
    const { payments } = this.#context.clientOf(profile.name);
    for await (const page of payments.iteratePages()) {
      const seen: SeenPayment[] = page.flatMap(({ id, payableId, status }) =>
        payableId === null || status === "completed" ? [] : [{ id, payableId }],
      );
      await this.#tell(profile, seen, businessMs);
      const theirs = page.filter(({ status }) => strangers.has(status));
      if (theirs.length > 0) await this.#tellOfStrangers(profile, theirs, businessMs);
      if (signal.aborted) return;
      await sleep(PAGE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
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
    seen: readonly SeenPayment[],
    businessMs: number,
  ): Promise<void> {
    const { store, temporal, log } = this.#context;
    const { businessId, name: business } = profile;
    const changes = await lateChanges(store.db, businessId, seen, businessMs);
    const payableIds = changes.map(({ payableId }) => payableId);
    if (changes.length === 0) return;
    await store.transactionOf(businessId, (trx) => flagLooks(trx, { businessId, payableIds }));
    for (const { payableId, runIsOpen } of changes) {
      log.warn("a settled payment has changed", { business, payableId });
      // A run at work sees the flag at its next turn; where it has ended, the bill needs an owner.
      if (!runIsOpen) await startOrTellRetry(temporal, business, payableId);
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
