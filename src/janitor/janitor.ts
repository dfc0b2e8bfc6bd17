import { randomUUID } from "node:crypto";
import { DAY_MS, HOUR_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { LastingTrouble } from "../process/lasting-trouble.ts";
import { OneEach } from "../process/one-each.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { type Lease, releaseLease, takeLease } from "../store/sql/leases.ts";
import { endHolds } from "../store/holds/holds.ts";
import { pruneInbox } from "../store/janitor/prune.ts";
import { noteKept } from "../store/janitor/behind.ts";
import { claimStrays, releaseOrphanClaims } from "../store/janitor/open-runs.ts";
import type { JanitorContext } from "./context.ts";
import { rememberedRuns, runningWorkflows } from "./executions.ts";
import {
  holdIfBothMayBeLost,
  holdIfEndsAreUnknown,
  holdIfRunsAreUnknown,
  holdIfRunsHaveSeenMore,
} from "./lost-store.ts";
import { lookAtOpenSends } from "./open-sends.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { FOLLOWED, followLost } from "./lost-workflows.ts";
import { notifyOfMissedRuns } from "./missed-runs.ts";
import { compareSchedules } from "./schedules.ts";

const PASS_EVERY_MS = 60_000;

/** Younger claims may be under way in another process. */
const SETTLED_MS = 60_000;

/**
 * How often everything that Temporal remembers is compared, not only what runs, and old rows are
 * deleted.
 */
const WHOLE_EVERY_MS = HOUR_MS;

/**
 * How long events are kept: longer than the return window, and than a service keeps delivering an
 * event.
 */
const INBOX_KEPT_MS = 90 * DAY_MS;

/** How long a pass waits for a slow business, which then goes on beside the next passes. */
const BUSINESS_WAITS_MS = 30_000;

const COMPARES = "Comparing the store with Temporal";

export interface JanitorOptions {
  /** Real time between passes; a minute by default. */
  readonly everyMs?: number | undefined;
}

/**
 * Compares the store with Temporal every minute, in one of the processes that share the store, and
 * starts a new workflow for each row that has lost its own.
 *
 * If the store is older than what Temporal has seen of it, everything is on hold before
 * `startJanitor` resolves, so that a worker polls only afterwards.
 */
export async function startJanitor(
  context: JanitorContext,
  options: JanitorOptions = {},
): Promise<Repeated> {
  const everyMs = options.everyMs ?? PASS_EVERY_MS;
  const janitor = new Janitor(context, everyMs);
  await janitor.lookForLoss();
  const passes = repeat(
    async (signal) => {
      await janitor.pass(signal);
      return everyMs;
    },
    (error) => {
      janitor.complain(error);
      return everyMs;
    },
  );
  return {
    stop: async () => {
      await passes.stop();
      await janitor.resign();
    },
  };
}

class Janitor {
  readonly #context: JanitorContext;
  readonly #trouble: LastingTrouble;
  readonly #leaseMs: number;
  readonly #lease: Lease = { name: "janitor", holder: randomUUID() };
  #leads = false;
  #wholeAtMs = 0;
  /** True once this process has checked whether both stores may be lost. */
  #begun = false;
  #failed = false;
  /** By business: bills with an open request that could not be read. */
  readonly #unread = new Map<string, Set<string>>();
  readonly #checks = new OneEach();

  constructor(context: JanitorContext, everyMs: number) {
    this.#context = context;
    this.#trouble = new LastingTrouble(context);
    this.#leaseMs = everyMs * 2 + 2_000;
  }

  /**
   * Looks for a loss in every process, whichever leads: none may begin to work on a store that is
   * behind.
   */
  async lookForLoss(): Promise<void> {
    try {
      const remembered = await rememberedRuns(this.#context.temporal);
      const running = await runningWorkflows(this.#context.temporal);
      for (const profile of this.#context.profiles.all()) {
        await holdIfRunsAreUnknown(this.#context, profile, remembered);
        await holdIfEndsAreUnknown(this.#context, profile, running);
      }
      if (!this.#begun) await holdIfBothMayBeLost(this.#context);
      this.#begun = true;
    } catch (error) {
      this.complain(error);
    }
  }

  async pass(signal: AbortSignal): Promise<void> {
    try {
      if (!this.#begun) await this.lookForLoss();
      // Only after that look, which relies on what the store says of its last use.
      if (this.#begun) await noteKept(this.#context.store.db);
      const led = this.#leads;
      if (!(await this.#lead())) return;
      const { temporal, profiles } = this.#context;
      await this.#prepareNamespace();
      const running = await runningWorkflows(temporal);
      const isWhole = Date.now() - this.#wholeAtMs > WHOLE_EVERY_MS;
      if (isWhole) await this.lookForLoss();
      for (const profile of led ? [] : profiles.all()) {
        await holdIfRunsHaveSeenMore(this.#context, profile, running);
      }
      if (signal.aborted || !(await this.#lead())) return;
      // A service that is slow or hangs holds up no other business.
      const checks = profiles.all().map((profile) => {
        const check = () => this.#checkBusiness(profile, running, isWhole);
        return this.#checks.begin(profile.businessId, check, BUSINESS_WAITS_MS);
      });
      await Promise.all(checks);
      if (isWhole) this.#wholeAtMs = Date.now();
      this.#compared();
    } catch (error) {
      this.complain(error);
      await this.#failedForAll(error);
    }
  }

  /**
   * Registers lost search attributes. A Temporal that was emptied under running workers doesn't
   * know what workflows write, and no workflow starts there. A process that may not register them
   * said so when its worker started.
   */
  async #prepareNamespace(): Promise<void> {
    try {
      const { connection, options } = this.#context.temporal;
      const names = await registerSearchAttributes(connection, options.namespace);
      if (names.length > 0)
        this.#context.log.warn("registered search attributes that Temporal had lost", { names });
    } catch {
      // If Temporal refuses for another reason, the following steps report it.
    }
  }

  async resign(): Promise<void> {
    await this.#checks.ended();
    if (!this.#leads) return;
    await releaseLease(this.#context.store.db, this.#lease).catch(() => undefined);
  }

  /**
   * Does each step for a business. A step that fails, for example at a row that can't be read,
   * keeps nothing else from being looked after.
   */
  async #checkBusiness(
    profile: BusinessProfile,
    running: ReadonlySet<string>,
    isWhole: boolean,
  ): Promise<void> {
    const context = this.#context;
    const { businessId } = profile;
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ...Object.values(FOLLOWED).map(
        (kind) => [kind.step, () => followLost(context, profile, running, kind)] as const,
      ),
      ["Comparing schedules with Temporal's", () => compareSchedules(context, profile)],
      [
        "Looking after requests without an answer",
        () => lookAtOpenSends(context, profile, this.#unreadOf(businessId)),
      ],
      ["Looking for missed runs", () => notifyOfMissedRuns(context, profile)],
      ["Looking after claims", () => this.#lookAfterClaims(profile)],
      ...(isWhole ? [["Forgetting old events", () => this.#prune(profile)] as const] : []),
      ["Ending holds", () => this.#endHolds(profile)],
    ];
    for (const [step, work] of steps) await this.#trouble.watch({ businessId, step }, work);
  }

  #unreadOf(businessId: string): Set<string> {
    const unread = this.#unread.get(businessId) ?? new Set();
    this.#unread.set(businessId, unread);
    return unread;
  }

  async #lookAfterClaims({ businessId, name }: BusinessProfile): Promise<void> {
    const { store, log } = this.#context;
    const nowMs = Date.now();
    const [claimed, released] = await store.transactionOf(businessId, async (trx) => [
      await claimStrays(trx, businessId, nowMs),
      await releaseOrphanClaims(trx, businessId, nowMs - SETTLED_MS),
    ]);
    if (claimed > 0)
      log.warn("claimed bills again that a request may still pay", { business: name, claimed });
    if (released > 0)
      log.warn("released claims that no open workflow owns", { business: name, released });
  }

  async #prune({ businessId }: BusinessProfile): Promise<void> {
    await pruneInbox(this.#context.store.db, businessId, Date.now() - INBOX_KEPT_MS);
  }

  async #endHolds({ businessId, name }: BusinessProfile): Promise<void> {
    const { store } = this.#context;
    const { businessMs } = await this.#context.clockOf(name).now();
    const times = { businessMs: Math.floor(businessMs), nowMs: Date.now() };
    await store.transactionOf(businessId, (trx) => endHolds(trx, businessId, times));
  }

  #compared(): void {
    this.#failed = false;
    for (const { businessId } of this.#context.profiles.all()) {
      this.#trouble.over({ businessId, step: COMPARES });
    }
  }

  async #failedForAll(error: unknown): Promise<void> {
    for (const { businessId } of this.#context.profiles.all()) {
      await this.#trouble.failed({ businessId, step: COMPARES }, error);
    }
  }

  async #lead(): Promise<boolean> {
    this.#leads = await takeLease(this.#context.store.db, this.#lease, this.#leaseMs);
    return this.#leads;
  }

  /** Logs a fault, once for as long as it lasts. */
  complain(error: unknown): void {
    if (!this.#failed) {
      const reason = reasonOf(error);
      this.#context.log.warn("the store could not be compared with Temporal; trying again", {
        reason,
      });
    }
    this.#failed = true;
  }
}
