import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import type { Store } from "../store/index.ts";
import {
  claimDeliveries,
  type DeliveryResult,
  type NoticeDelivery,
  recordDelivery,
  releaseDelivery,
  unrouted,
} from "../store/notices/notice-deliveries.ts";
import { getNotice } from "../store/notices/notices.ts";
import { type Carriers, deliver } from "./deliver.ts";
import { Mailer } from "./mail.ts";
import { Poster } from "./post.ts";
import { nextTryMs, type TryResult } from "./results.ts";
import { route } from "./routing.ts";

export interface NoticeSenderContext {
  readonly store: Store;
  readonly profiles: { byBusinessId(businessId: string): BusinessProfile | undefined };
  readonly clientOf: (profile: BusinessProfile) => PaymentsClient;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Real time. */
  readonly nowMs: () => number;
  /** The address at which people reach the console. */
  readonly publicUrl: () => string;
  /** How often an outbox with nothing to do is checked; every second by default. */
  readonly noticesEveryMs?: number;
}

const ROUTED_AT_ONCE = 100;
/** Vendors whose addresses are read at the same time. */
const VENDORS_AT_ONCE = 8;
const SENT_AT_ONCE = 40;
const IDLE_MS = 1_000;
/** How often due deliveries of other channels are looked for while some channels are at work. */
const WORKING_MS = 50;
const TROUBLE_MS = 5_000;
const STOP_LIMIT_MS = 1_000;

/** How long a channel that is up keeps what it has claimed; what is left is claimed again. */
const TURN_MS = 5_000;

/** Longer than a turn with one slow try at its end. */
const CLAIM_MS = 60_000;

/** Pause before deliveries are tried again on a channel that was just found to be down. */
const CHANNEL_WAIT_MS = 15_000;

/**
 * Sends what is in the outbox, for all businesses. Any number of processes may do so at once: each
 * takes rows of its own. A delivery that fails is tried again for about a day, and is then marked
 * undeliverable; nothing else waits for it, nor for a service that is slow to return the addresses
 * of vendors.
 *
 * If a process dies after sending and before recording that, the next one sends again, under the
 * same id: at least once, never not at all. When the sender is stopped, sends that take long are
 * cut off.
 */
export function startNoticeSender(context: NoticeSenderContext): Repeated {
  const outbox = new Outbox(context);
  const idleMs = context.noticesEveryMs ?? IDLE_MS;
  const failed = (error: unknown): number => {
    context.log.warn("notices could not be sent; trying again", { reason: reasonOf(error) });
    return TROUBLE_MS;
  };
  const sending = repeat(async () => {
    await outbox.routePeople();
    await outbox.begin();
    return outbox.isSending ? Math.min(WORKING_MS, idleMs) : idleMs;
  }, failed);
  const lookingUp = repeat(
    async (stopping) => ((await outbox.routeVendors(stopping)) > 0 ? 0 : idleMs),
    failed,
  );
  return {
    stop: async () => {
      const stopped = Promise.all([sending.stop().then(() => outbox.sent()), lookingUp.stop()]);
      await Promise.race([stopped, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
      await outbox.cutOff();
      await stopped;
    },
  };
}

/** One process's share of the outbox: each channel that it works on goes at its own speed. */
class Outbox {
  readonly #context: NoticeSenderContext;
  readonly #carriers = { poster: new Poster(), mailer: new Mailer() };
  readonly #turns = new Map<NoticeDelivery, Promise<void>>();

  constructor(context: NoticeSenderContext) {
    this.#context = context;
  }

  get isSending(): boolean {
    return this.#turns.size > 0;
  }

  async routePeople(): Promise<void> {
    const { store, nowMs } = this.#context;
    const news = await unrouted(store.db, "people", nowMs(), ROUTED_AT_ONCE);
    for (const notice of news) await route(this.#context, notice);
  }

  /**
   * Looks up the addresses of vendors that notices are for.
   *
   * @returns how many vendors were looked up
   */
  async routeVendors(stopping: AbortSignal): Promise<number> {
    const { store, nowMs } = this.#context;
    const news = await unrouted(store.db, "vendors", nowMs(), VENDORS_AT_ONCE);
    await Promise.all(news.map((notice) => route(this.#context, notice, stopping)));
    return news.length;
  }

  /** Takes what is due for channels that are free, and begins to send it. */
  async begin(): Promise<void> {
    const { store, log, nowMs } = this.#context;
    const [holder, now] = [randomUUID(), nowMs()];
    const busy = [...this.#turns.keys()];
    const claim = { holder, nowMs: now, untilMs: now + CLAIM_MS, busy };
    const due = await claimDeliveries(store.db, claim, SENT_AT_ONCE);
    const byChannel = Map.groupBy(due, ({ businessId, channel }) => `${businessId} ${channel}`);
    for (const deliveries of byChannel.values()) {
      const [first] = deliveries;
      if (first === undefined) continue;
      const turn = sendOver(this.#context, this.#carriers, holder, deliveries)
        .catch((error: unknown) => {
          // What it has claimed is claimed again once the claim has expired.
          const fields = { channel: first.channel, reason: reasonOf(error) };
          log.warn("notices of a channel could not be sent; trying again", fields);
        })
        .finally(() => this.#turns.delete(first));
      this.#turns.set(first, turn);
    }
  }

  async sent(): Promise<void> {
    await Promise.all(this.#turns.values());
  }

  async cutOff(): Promise<void> {
    this.#carriers.mailer.close();
    await this.#carriers.poster.close();
  }
}

/**
 * Sends over one channel, one delivery after the other; if the channel turns out to be down, the
 * remaining ones wait.
 */
async function sendOver(
  context: NoticeSenderContext,
  carriers: Carriers,
  holder: string,
  deliveries: readonly NoticeDelivery[],
): Promise<void> {
  const { store, profiles, log, nowMs, publicUrl } = context;
  const untilMs = nowMs() + TURN_MS;
  let isDown = false;
  for (const delivery of deliveries) {
    const { deliveryId, noticeId, businessId, channel, tries } = delivery;
    if (isDown || nowMs() > untilMs) {
      const dueAtMs = nowMs() + (isDown ? CHANNEL_WAIT_MS : 0);
      await releaseDelivery(store.db, deliveryId, holder, dueAtMs);
      continue;
    }
    const notice = await getNotice(store.db, noticeId);
    if (notice === undefined) continue;
    const profile = profiles.byBusinessId(businessId);
    const tried = await deliver(carriers, profile, notice, delivery, {
      nowMs: nowMs(),
      publicUrl: publicUrl(),
    });
    const result = resultOf(tried, tries, nowMs());
    await recordDelivery(store.db, deliveryId, holder, result, nowMs());
    if (tried.kind === "sent") continue;
    isDown = tried.kind === "failed" && tried.channelDown;
    const { problem } = tried;
    const given = result.kind === "undeliverable";
    const message = given ? "a notice could not be delivered" : "a notice was not delivered yet";
    const { kind } = notice;
    log.warn(message, { businessId, noticeId, kind, channel, tries: tries + 1, problem });
  }
}

function resultOf(tried: TryResult, tries: number, nowMs: number): DeliveryResult {
  if (tried.kind === "sent") return tried;
  if (tried.kind === "refused") return { kind: "undeliverable", problem: tried.problem };
  const atMs = nextTryMs(tries, nowMs, tried.retryAfterMs);
  return atMs === null
    ? { kind: "undeliverable", problem: `${tried.problem}; given up after ${tries + 1} tries` }
    : { kind: "again", problem: tried.problem, atMs };
}
