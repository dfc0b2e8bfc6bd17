import type { Client } from "@temporalio/client";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import type { Store } from "../../src/store/index.ts";
import type { Vault } from "../../src/vault/vault.ts";
import type { BusinessClock } from "../../src/business/clock.ts";

export interface ActivityLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

/** What activities work with; the worker's composition root makes one for each process. */
export interface ActivityContext {
  readonly store: Store;
  readonly temporal: Client;
  readonly log: ActivityLog;
  readonly vault: Vault;
  /** The gateway's address for people: what is shown in Temporal links to its pages. */
  readonly publicUrl?: string | undefined;
  /** Names this process in leases and in the attempts' sends. */
  readonly workerId: string;
  /** @throws {Error} if no profile has this name, or the profiles can't be used */
  profileOf(business: string): BusinessProfile;
  clientOf(business: string): PaymentsClient;
  clockOf(business: string): BusinessClock;
  /**
   * Counts a decision that was sent straight to Temporal, as `payrun_decisions_total` of this
   * process: `accepted`, or the code for which it doesn't count.
   */
  readonly countDecision: (outcome: string) => void;
  /**
   * Aborted when the worker shuts down: nothing new is leased, and requests in flight get their
   * answers.
   */
  readonly draining: AbortSignal;
}

/** Time from the call of a request to the last byte of its answer. */
export const HTTP_TIMEOUT_MS = 10_000;

/** How long a lease of a line lasts; a lease spreads the load, and guards no money. */
export const LEASE_MS = 60_000;
