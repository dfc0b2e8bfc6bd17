import { setTimeout as sleep } from "node:timers/promises";
import type { BusinessProfile } from "../config/business-profile.ts";
import { type Delivery, PAGE_SIZE_MAX } from "../payments-api/index.ts";
import { insertEvents, knownEventIds } from "../store/events/inbox.ts";
import type { ActionContext } from "../actions/context.ts";
import { OneEach } from "../process/one-each.ts";
import { ownEndpoints } from "./own-endpoints.ts";
import { PausedEndpoints } from "./paused-endpoints.ts";
import { inboxEvent, parseEvent } from "./inbox-event.ts";

const REAL_INTERVAL_MS = 60_000;
const SANDBOX_INTERVAL_MS = 2_000;
/** The most pages of one pass; far more than a service keeps retrying. */
const MAX_PAGES = 200;
/** Pause after a fault that doesn't pass by itself, such as a missing scope. */
const REFUSED_INTERVAL_MS = 10 * 60_000;

type Recovery = Pick<
  ActionContext,
  "store" | "profiles" | "clientOf" | "log" | "metrics" | "nowMs" | "publicUrl" | "wakeDispatcher"
>;

/** A pass over a slow business goes on beside the passes over others. */
const SLOW_MS = 1_000;

/** What is kept from one pass to the next. */
interface Remembered {
  /**
   * The deliveries with which the last complete pass over an endpoint began, by the endpoint's id.
   */
  readonly cursor: Map<string, ReadonlySet<string>>;
  readonly paused: PausedEndpoints;
}

export interface DeliveryRecovery {
  stop(): Promise<void>;
}

/**
 * Finds webhooks that never arrived: compares the deliveries of the endpoint whose address is ours
 * with the inbox, and takes the missing events from their `requestBody`. Resumes the endpoint if
 * the service has paused it.
 */
export function startDeliveryRecovery(context: Recovery): DeliveryRecovery {
  const stopping = new AbortController();
  const remembered: Remembered = { cursor: new Map(), paused: new PausedEndpoints(context) };
  const nextAtMs = new Map<string, number>();
  const told = new Set<string>();
  const passes = new OneEach();

  const recover = async (profile: BusinessProfile): Promise<void> => {
    const intervalMs = profile.sandbox ? SANDBOX_INTERVAL_MS : REAL_INTERVAL_MS;
    try {
      await recoverLostEvents(context, profile, remembered, stopping.signal);
      told.delete(profile.name);
      nextAtMs.set(profile.name, context.nowMs() + intervalMs);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const status = statusOf(error);
      const refused = status === 401 || status === 403 || status === 404;
      nextAtMs.set(
        profile.name,
        context.nowMs() + (refused && !profile.sandbox ? REFUSED_INTERVAL_MS : intervalMs),
      );
      if (told.has(profile.name)) return;
      told.add(profile.name);
      context.log.warn(
        `lost webhooks can't be looked for ${refused ? "(the token needs webhooks:read)" : "right now"}; polling still finds every change`,
        { business: profile.name, reason: error instanceof Error ? error.message : String(error) },
      );
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const due = context.profiles
        .all()
        .filter(({ name }) => (nextAtMs.get(name) ?? 0) <= context.nowMs());
      await Promise.all(
        due.map((profile) => passes.begin(profile.name, () => recover(profile), SLOW_MS)),
      );
      await sleep(500, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = loop();

  return {
    stop: async () => {
      stopping.abort();
      await running;
      await passes.ended();
    },
  };
}

/**
 * Makes one pass for one business.
 *
 * Events that arrived by webhook say nothing about those before them, so the pass ends only at
 * deliveries that an earlier complete pass has seen.
 *
 * @returns how many events were missing
 */
async function recoverLostEvents(
  context: Recovery,
  profile: BusinessProfile,
  { cursor, paused }: Remembered,
  signal: AbortSignal,
): Promise<number> {
  const client = context.clientOf(profile);
  const endpoints = await ownEndpoints(client, context.publicUrl(), profile.name);
  let recovered = 0;
  for (const endpoint of endpoints) {
    const seen = cursor.get(endpoint.id);
    let newest: ReadonlySet<string> | undefined;
    let read = 0;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const asked = { page, pageSize: PAGE_SIZE_MAX };
      const answer = await client.deliveries.list(endpoint.id, asked, { signal });
      const { items, totalCount, uncounted = false } = answer;
      read += items.length;
      if (newest === undefined) await paused.look(profile, endpoint, items);
      newest ??= new Set(items.map((delivery) => delivery.id));
      recovered += await takeMissing(context, profile, items);
      const reached = seen !== undefined && items.some((delivery) => seen.has(delivery.id));
      // Pages may be shorter than requested.
      if (reached || items.length === 0 || (!uncounted && read >= totalCount)) break;
    }
    cursor.set(endpoint.id, newest ?? new Set());
  }
  if (recovered > 0) {
    context.metrics.recoveredEvents.inc({ business: profile.name }, recovered);
    context.log.info("took lost events from the list of deliveries", {
      business: profile.name,
      events: recovered,
    });
    context.wakeDispatcher();
  }
  return recovered;
}

async function takeMissing(
  context: Recovery,
  profile: BusinessProfile,
  deliveries: readonly Delivery[],
): Promise<number> {
  const rows = new Map<string, ReturnType<typeof inboxEvent>>();
  for (const { requestBody } of deliveries) {
    if (requestBody === null) continue;
    const parsed = parseEvent(requestBody);
    if (!parsed.ok) continue;
    const { event } = parsed;
    if (event.businessId !== null && event.businessId !== profile.businessId) continue;
    rows.set(event.id, inboxEvent(profile, event, requestBody, "deliveries", context.nowMs()));
  }
  if (rows.size === 0) return 0;
  const known = await knownEventIds(context.store.db, profile.businessId, [...rows.keys()]);
  const missing = [...rows.values()].filter((row) => !known.has(row.eventId));
  if (missing.length === 0) return 0;
  return (await insertEvents(context.store.db, missing)).length;
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}
