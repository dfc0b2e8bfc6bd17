import { wakeUp, wakeWorkflow } from "../domain/facts/fact.ts";
import { record } from "../store/facts/record.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { forgottenOf, notifyOfForgotten } from "../ledger/forgotten-payments.ts";
import { followedSinceMs } from "../domain/payments/return-window.ts";
import { PAGE_SIZE_MAX, type Payment } from "../payments-api/index.ts";
import { mayHaveForgotten } from "../store/janitor/behind.ts";
import { keepLatePass, type LatePass } from "../store/janitor/late-passes.ts";
import {
  externalPaymentsLookedAfter,
  unreportedExternalPayments,
} from "../store/payables/external-payments.ts";
import { isWatching, lateChanges, type WatchedPayment } from "../store/janitor/late-changes.ts";
import { flagLooks } from "../store/payables/subscriptions.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import { PAYRUN } from "../contracts/authors.ts";
import type { JanitorContext } from "./context.ts";

/** The most that a turn reads of one business: 36,000 pages a day, of 100 payments each. */
const PAGES_A_TURN = 25;

/** Pause between pages: a slow reader leaves the service to payments. */
const PAGE_PAUSE_MS = 200;

/** Older failures have been dealt with by the party that made the payment. */
const RECENT_MS = 7 * DAY_MS;

/**
 * Reads what was paid page by page, and notifies the owner of each payment that has changed since.
 */
export class LatePages {
  readonly #context: JanitorContext;
  readonly #mayGoOn: () => Promise<boolean>;
  readonly #pauseMs: number;

  /** @param mayGoOn called before each further page */
  constructor(context: JanitorContext, mayGoOn: () => Promise<boolean>, pauseMs = PAGE_PAUSE_MS) {
    this.#context = context;
    this.#mayGoOn = mayGoOn;
    this.#pauseMs = pauseMs;
  }

  /**
   * Continues a pass, newest first: new payments come before its beginning, and move no page. Each
   * page that was read counts, whichever process reads the next.
   */
  async read(
    profile: BusinessProfile,
    pass: LatePass,
    nowBusinessMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { db } = this.#context.store;
    const businessMs = Math.floor(nowBusinessMs);
    const external = await externalPaymentsLookedAfter(db, profile.name);
    const sinceMs = followedSinceMs(businessMs);
    const mayBeForgotten = await mayHaveForgotten(db, profile.businessId, sinceMs);
    const readsAnyway = external.size > 0 || mayBeForgotten;
    if (!readsAnyway && !(await isWatching(db, profile.businessId, businessMs))) {
      return keepLatePass(db, { ...pass, madeBefore: null });
    }
    const { payments } = this.#context.clientOf(profile.name);
    const filters = {
      createdAfter: new Date(sinceMs).toISOString(),
      createdBefore: pass.madeBefore ?? undefined,
    };
    for (let page = pass.nextPage; page < pass.nextPage + PAGES_A_TURN; page += 1) {
      const { items } = await payments.list({ ...filters, page, pageSize: PAGE_SIZE_MAX });
      await this.#signalOwners(profile, items, businessMs);
      const theirs = items.filter(({ status }) => external.has(status));
      if (theirs.length > 0) await this.#notifyOfExternalPayments(profile, theirs, businessMs);
      if (mayBeForgotten) await this.#notifyOfForgotten(profile, items);
      // A page may be shorter than requested. If the service ignores the filter, age ends the pass.
      const isLast = items.length === 0 || Date.parse(items.at(-1)?.createdAt ?? "") < sinceMs;
      const madeBefore = isLast ? null : pass.madeBefore;
      await keepLatePass(db, { ...pass, madeBefore, nextPage: page + 1 });
      if (isLast || signal.aborted) return;
      await sleep(this.#pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || !(await this.#mayGoOn())) return;
    }
  }

  async #signalOwners(
    profile: BusinessProfile,
    page: readonly Payment[],
    businessMs: number,
  ): Promise<void> {
    const { store, temporal, log } = this.#context;
    const { businessId, name: business } = profile;
    const seen: WatchedPayment[] = page.flatMap(({ id, payableId, status }) =>
      payableId === null || status === "completed" ? [] : [{ id, payableId }],
    );
    const changes = await lateChanges(store.db, businessId, seen, businessMs);
    const payableIds = changes.map(({ payableId }) => payableId);
    if (changes.length === 0) return;
    await store.transactionOf(businessId, async (trx) => {
      await flagLooks(trx, { businessId, payableIds });
      const followers = changes.flatMap(({ followedBy }) => followedBy ?? []);
      await record(trx, wakeUp(businessId, ...followers.map(wakeWorkflow)));
    });
    for (const { payableId, followedBy } of changes) {
      log.warn("a settled payment has changed", { business, payableId });
      // A payment that no run follows needs an owner.
      if (followedBy === null)
        await startOrSignal(temporal, WORKFLOW_KINDS.retryFailedPayment, { business, payableId });
    }
  }

  /**
   * Starts an owner for failures of payments that Payrun did not make and that no event has
   * reported.
   */
  async #notifyOfExternalPayments(
    { businessId, name: business }: BusinessProfile,
    theirs: readonly Payment[],
    businessMs: number,
  ): Promise<void> {
    const { store, temporal } = this.#context;
    const failed = theirs.flatMap(({ id, payableId, updatedAt }) => {
      const isRecent = businessMs - Date.parse(updatedAt ?? "") < RECENT_MS;
      return isRecent && payableId !== null ? [{ id, payableId }] : [];
    });
    for (const { payableId } of await unreportedExternalPayments(store.db, businessId, failed)) {
      await startOrSignal(temporal, WORKFLOW_KINDS.retryFailedPayment, { business, payableId });
    }
  }

  /**
   * Notifies people of payments that came back and that a restored store doesn't know: nothing else
   * would report them.
   */
  async #notifyOfForgotten(
    { businessId, name: business }: BusinessProfile,
    page: readonly Payment[],
  ): Promise<void> {
    const { store, log } = this.#context;
    const forgotten = await forgottenOf(store.db, businessId, page);
    if (forgotten.length === 0) return;
    const by = { actor: PAYRUN, nowMs: Date.now() };
    const isNews = await store.transactionOf(businessId, (trx) =>
      notifyOfForgotten(trx, businessId, forgotten, by),
    );
    if (!isNews) return;
    log.warn("payments came back that the store has no record of", {
      business,
      paymentIds: forgotten.map(({ id }) => id),
    });
  }
}
