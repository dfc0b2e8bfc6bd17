import type { Client } from "@temporalio/client";
import type { ActivityContext, ActivityLog } from "../../activities/shared/context.ts";
import { HTTP_TIMEOUT_MS } from "../../activities/shared/context.ts";
import { Clients } from "../business/clients.ts";
import { Clocks } from "../business/clocks.ts";
import type { BusinessProfile, Profiles } from "../config.ts";
import { reasonOf } from "../process/repeat.ts";
import { type SendSignal, signalAtOnce } from "../process/send-signals.ts";
import type { Store } from "../store/index.ts";
import { signalToLook } from "../temporal/signal.ts";
import type { Vault } from "../vault/vault.ts";

/** Requests that a worker keeps in flight for one business: four lanes of twenty, and reads. */
const CONNECTIONS = 100;

export interface ContextParts {
  readonly store: Store;
  readonly temporal: Client;
  readonly profiles: Profiles;
  readonly vault: Vault;
  readonly log: ActivityLog;
  readonly publicUrl?: string;
  readonly workerId: string;
  readonly draining: AbortSignal;
  readonly countDecision: (outcome: string) => void;
}

/** After this time, signaling a workflow is left to the gateways. */
const TELL_TIMEOUT_MS = 5_000;

function signalThrough({ temporal, log }: ContextParts): SendSignal {
  return async (workflowId) => {
    try {
      const signal = () => signalToLook(temporal, workflowId);
      const isThere = await temporal.withDeadline(Date.now() + TELL_TIMEOUT_MS, signal);
      return isThere ? "sent" : "closed";
    } catch (error) {
      const fields = { workflowId, reason: reasonOf(error) };
      log.info("a workflow could not be signaled at once: a gateway will do it", fields);
      return "failed";
    }
  };
}

/** How long a profile is used as it was read: each payment needs it several times. */
const RECENT_MS = 20;

/** Puts together what the activities of this process work with. */
export function createContext(parts: ContextParts): {
  readonly activities: ActivityContext;
  close(): Promise<void>;
} {
  const clocks = new Clocks();
  const recent = new Map<string, BusinessProfile>();
  let recentSinceMs = -Infinity;
  const profileOf = (business: string): BusinessProfile => {
    if (performance.now() - recentSinceMs >= RECENT_MS) {
      recent.clear();
      recentSinceMs = performance.now();
    }
    const profile = recent.get(business) ?? parts.profiles.get(business);
    if (profile === undefined) {
      throw new Error(`no profile is called "${business}": add it to the profiles file`);
    }
    recent.set(business, profile);
    return profile;
  };
  const clients = new Clients({
    connections: CONNECTIONS,
    timeoutMs: HTTP_TIMEOUT_MS,
    onDate: (profile, dateMs) => clocks.of(profile).observeServiceDate(dateMs),
  });
  const { store, temporal, log, vault, publicUrl, workerId, draining, countDecision } = parts;
  const signaling = signalAtOnce(store, () => signalThrough(parts), log);
  return {
    activities: {
      store,
      temporal,
      log,
      vault,
      publicUrl,
      workerId,
      draining,
      countDecision,
      profileOf,
      clientOf: (business) => clients.of(profileOf(business)),
      clockOf: (business) => clocks.of(profileOf(business)),
    },
    close: async () => {
      await signaling.stop();
      await clients.close();
    },
  };
}
