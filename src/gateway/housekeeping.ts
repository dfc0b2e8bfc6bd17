import { DAY_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { pruneSessions } from "../store/approvals/sessions.ts";
import { forgetRequests } from "../store/requests/keyed-requests.ts";
import { STORE_TRAIL } from "../store/audit/audit.ts";
import { pruneEventStarts } from "../store/events/event-starts.ts";
import { pruneNotices } from "../store/facts/notice-prune.ts";
import { pruneSubscriptions } from "../store/payables/subscriptions.ts";
import type { GatewayContext } from "./http/context.ts";
import { KEYS_FORGOTTEN_EVERY_MS, KEYS_KEPT_MS } from "./http/keyed.ts";

const INTERVAL_MS = KEYS_FORGOTTEN_EVERY_MS;

/** Longer than anything that a notice is about can last, such as an approval. */
const NOTICES_KEPT_MS = 400 * DAY_MS;

/**
 * As long as runs' own reports are read. If an event arrives again after that, it is too old to
 * start anything.
 */
const EVENTS_KEPT_MS = 400 * DAY_MS;

/** Sign-ins are reviewed by the quarter; after that only the trail has them. */
const SESSIONS_KEPT_MS = 100 * DAY_MS;

/**
 * Deletes old rows once an hour: marks of events that started something long ago, notices that were
 * delivered long ago, subscriptions whose return window is over, sessions that ended long ago, and
 * what requests with a key have done.
 */
export function startHousekeeping(
  context: Pick<GatewayContext, "store" | "profiles" | "clocks" | "log" | "nowMs">,
): Repeated {
  const failed = (error: unknown, business?: string): number => {
    const fields = { business, reason: reasonOf(error) };
    context.log.warn("old data could not be deleted; trying again in an hour", fields);
    return INTERVAL_MS;
  };
  const forgetOfNobody = (): Promise<void> =>
    context.store.transactionOf(STORE_TRAIL, async (trx) => {
      const nowMs = Math.floor(context.nowMs());
      await pruneSessions(trx, nowMs - SESSIONS_KEPT_MS);
      await forgetRequests(trx, nowMs - KEYS_KEPT_MS);
    });
  return repeat(async () => {
    await forgetOfNobody().catch((error: unknown) => failed(error));
    for (const profile of context.profiles.all()) {
      await forget(context, profile).catch((error: unknown) => failed(error, profile.name));
    }
    return INTERVAL_MS;
  }, failed);
}

async function forget(
  { store, clocks, nowMs }: Pick<GatewayContext, "store" | "clocks" | "nowMs">,
  profile: BusinessProfile,
): Promise<void> {
  const { businessId } = profile;
  await pruneEventStarts(store.db, businessId, nowMs() - EVENTS_KEPT_MS);
  const times = { beforeMs: nowMs() - NOTICES_KEPT_MS, nowMs: nowMs() };
  for (let forgotten = 1; forgotten > 0;) {
    forgotten = await store.transactionOf(businessId, (trx) =>
      pruneNotices(trx, businessId, times),
    );
  }
  const { businessMs } = await clocks.read(profile);
  await store.transactionOf(businessId, (trx) =>
    pruneSubscriptions(trx, businessId, Math.floor(businessMs)),
  );
}
