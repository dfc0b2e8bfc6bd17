import type { Client } from "@temporalio/client";
import type { ActivityContext, ActivityLog } from "../../activities/context.ts";
import { HTTP_TIMEOUT_MS } from "../../activities/context.ts";
import { Clients } from "../business/clients.ts";
import { Clocks } from "../business/clock.ts";
import type { BusinessProfile, Profiles } from "../config.ts";
import type { Store } from "../store/index.ts";
import type { Vault } from "../vault/vault.ts";

/** Requests that a worker keeps in flight for one business: four lanes of twenty, and reads. */
const CONNECTIONS = 100;

export interface ContextParts {
  readonly store: Store;
  readonly temporal: Client;
  readonly profiles: Profiles;
  readonly vault: Vault;
  readonly log: ActivityLog;
  readonly workerId: string;
  readonly draining: AbortSignal;
}

/** Puts together what the activities of this process stand on. */
export function createContext(parts: ContextParts): {
  readonly activities: ActivityContext;
  close(): Promise<void>;
} {
  const clocks = new Clocks();
  const profileOf = (business: string): BusinessProfile => {
    const profile = parts.profiles.get(business);
    if (profile === undefined) {
      throw new Error(`no profile is called "${business}": add it to the profiles file`);
    }
    return profile;
  };
  const clients = new Clients({
    connections: CONNECTIONS,
    timeoutMs: HTTP_TIMEOUT_MS,
    onDate: (business, dateMs) => clocks.of(profileOf(business)).observeServiceDate(dateMs),
  });
  const { store, temporal, log, vault, workerId, draining } = parts;
  return {
    activities: {
      store,
      temporal,
      log,
      vault,
      workerId,
      draining,
      profileOf,
      clientOf: (business) => clients.of(profileOf(business)),
      clockOf: (business) => clocks.of(profileOf(business)),
    },
    close: () => clients.close(),
  };
}
