import type { Client } from "@temporalio/client";
import type { BusinessClock } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import type { Store } from "../store/index.ts";

/** What the janitor works with. */
export interface JanitorContext {
  readonly store: Store;
  readonly temporal: Client;
  readonly log: JanitorLog;
  readonly profiles: { all(): readonly BusinessProfile[] };
  clientOf(business: string): PaymentsClient;
  clockOf(business: string): BusinessClock;
}

interface JanitorLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}
