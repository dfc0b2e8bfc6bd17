import { setTimeout as sleep } from "node:timers/promises";
import { pruneWatches } from "../store/watches.ts";
import type { GatewayContext } from "./context.ts";

const INTERVAL_MS = 60 * 60_000;

export interface Housekeeping {
  stop(): Promise<void>;
}

/** Forgets, once an hour, the watches whose return window is over. */
export function startHousekeeping(
  context: Pick<GatewayContext, "store" | "profiles" | "clocks" | "log">,
): Housekeeping {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const profile of context.profiles.all()) {
        try {
          const { businessMs } = await context.clocks.read(profile);
          await pruneWatches(context.store.db, profile.businessId, Math.floor(businessMs));
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          const fields = { business: profile.name, reason };
          context.log.warn("old watches could not be forgotten; trying again in an hour", fields);
        }
      }
      const { signal } = stopping;
      await sleep(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
