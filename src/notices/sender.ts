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
} from "../store/notice-deliveries.ts";
import { getNotice } from "../store/notices.ts";
import { type Carriers, deliver } from "./deliver.ts";
import { Mailer } from "./mail.ts";
import { Poster } from "./post.ts";
import { nextTryMs, type TryResult } from "./results.ts";
import { VENDOR_CHANNEL } from "./routes.ts";
import { route } from "./routing.ts";

export interface NoticeSenderContext {
  readonly store: Store;
  readonly profiles: { byBusinessId(businessId: string): BusinessProfile | undefined };
  readonly clientOf: (profile: BusinessProfile) => PaymentsClient;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Real time. */
  readonly nowMs: () => number;
  /** How often an outbox with nothing to do is looked into; every second unless said. */
  readonly noticesEveryMs?: number;
}

const ROUTED_AT_ONCE = 100;
const SENT_AT_ONCE = 40;
const IDLE_MS = 1_000;
const TROUBLE_MS = 5_000;
const STOP_LIMIT_MS = 1_000;

/** How long a round goes on with a channel that is up; what is left comes with the next. */
const ROUND_MS = 5_000;

/** Longer than a round with one slow try at its end. */
const CLAIM_MS = 60_000;

/** When deliveries of a channel are tried again that was just found to be down. */
const CHANNEL_REST_MS = 15_000;

/**
 * Sends what stands in the outbox, of all businesses. Any number of processes may do so at once:
 * each takes rows of its own. What can't be delivered is tried again for about a day, and then
 * stands as undeliverable; nothing else waits for it.
 *
 * A process that dies after sending and before noting so makes the next one send again, under the
 * same id: at least once, never never. Stopped, what is being sent is cut off where it takes long.
 */
export function startNoticeSender(context: NoticeSenderContext): Repeated {
  const carriers: Carriers = { poster: new Poster(), mailer: new Mailer() };
  const rounds = repeat(
    async () =>
      (await sendRound(context, carriers)) > 0 ? 0 : (context.noticesEveryMs ?? IDLE_MS),
    (error) => {
      context.log.warn("notices could not be sent; trying again", { reason: reasonOf(error) });
      return TROUBLE_MS;
    },
  );
  return {
    stop: async () => {
      const stopped = rounds.stop();
      await Promise.race([stopped, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
      carriers.mailer.close();
      await carriers.poster.close();
      await stopped;
    },
  };
}

/** Routes what is new and tries what is due; answers how much that was. */
async function sendRound(context: NoticeSenderContext, carriers: Carriers): Promise<number> {
  const { store, nowMs } = context;
  const news = await unrouted(store.db, nowMs(), ROUTED_AT_ONCE);
  for (const notice of news) await route(context, notice);
  const holder = randomUUID();
  const now = nowMs();
  // Thousands of vendors may be written to; who must approve something goes first.
  const lastChannel = VENDOR_CHANNEL;
  const claim = { holder, nowMs: now, untilMs: now + CLAIM_MS, lastChannel };
  const due = await claimDeliveries(store.db, claim, SENT_AT_ONCE);
  const byChannel = Map.groupBy(due, ({ businessId, channel }) => `${businessId} ${channel}`);
  // A channel that is slow or down delays no other.
  await Promise.all(
    [...byChannel.values()].map((deliveries) => sendOver(context, carriers, holder, deliveries)),
  );
  return news.length + due.length;
}

/** Sends over one channel, one after the other; what is left when it turns out to be down rests. */
async function sendOver(
  context: NoticeSenderContext,
  carriers: Carriers,
  holder: string,
  deliveries: readonly NoticeDelivery[],
): Promise<void> {
  const { store, profiles, log, nowMs } = context;
  const untilMs = nowMs() + ROUND_MS;
  let isDown = false;
  for (const delivery of deliveries) {
    const { deliveryId, noticeId, businessId, channel, tries } = delivery;
    if (isDown || nowMs() > untilMs) {
      const dueAtMs = nowMs() + (isDown ? CHANNEL_REST_MS : 0);
      await releaseDelivery(store.db, deliveryId, holder, dueAtMs);
      continue;
    }
    const notice = await getNotice(store.db, noticeId);
    if (notice === undefined) continue;
    const profile = profiles.byBusinessId(businessId);
    const tried = await deliver(carriers, profile, notice, delivery, nowMs());
    const result = resultOf(tried, tries, nowMs());
    await recordDelivery(store.db, deliveryId, holder, result, nowMs());
    if (tried.kind === "sent") continue;
    isDown = tried.kind === "failed" && tried.channelDown;
    const { problem } = tried;
    const given = result.kind === "undeliverable";
    const message = given ? "a notice could not be delivered" : "a notice was not delivered yet";
    log.warn(message, { noticeId, kind: notice.kind, channel, tries: tries + 1, problem });
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
