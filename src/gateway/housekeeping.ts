import type { BusinessProfile } from "../config/business-profile.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { pruneEventStarts } from "../store/events/event-starts.ts";
import { pruneNotices } from "../store/notices/notice-prune.ts";
import { pruneSubscriptions } from "../store/payables/subscriptions.ts";
import type { GatewayContext } from "./http/context.ts";

const INTERVAL_MS = 60 * 60_000;

/** Longer than anything that people are told of can last, such as an approval. */
const NOTICES_KEPT_MS = 400 * 86_400_000;

/** As long as the runs' own reports are looked at; an event that comes again by then is too old to start anything. */
const EVENTS_KEPT_MS = 400 * 86_400_000;

/** Forgets, once an hour, the subscriptions whose return window is over and notices that were got long ago. */
export function startHousekeeping(
  context: Pick<GatewayContext, "store" | "profiles" | "clocks" | "log" | "nowMs">,
): Repeated {
  const failed = (error: unknown, business?: string): number => {
    const fields = { business, reason: reasonOf(error) };
    context.log.warn("what is old could not be forgotten; trying again in an hour", fields);
    return INTERVAL_MS;
  };
  return repeat(async () => {
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
