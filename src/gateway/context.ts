import type { Client } from "@temporalio/client";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import type { Store } from "../store/index.ts";
import type { Vault } from "../vault/vault.ts";
import type { BusinessClocks } from "./clocks.ts";
import type { Rates, UnprovenBodies } from "./http/limits.ts";
import type { TokenUses } from "./http/token-uses.ts";
import type { RefusedToday } from "./http/refusals.ts";
import type { InboxWriter } from "./inbox-writer.ts";
import type { Metrics } from "./metrics.ts";

export interface GatewayLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** The businesses as the gateway asks for them; read again when their file changes. */
export interface BusinessProfiles {
  get(name: string): BusinessProfile | undefined;
  byBusinessId(businessId: string): BusinessProfile | undefined;
  all(): readonly BusinessProfile[];
}

/** What the gateway's parts stand on; `createGateway` makes it. */
export interface GatewayContext {
  readonly store: Store;
  readonly profiles: BusinessProfiles;
  readonly temporal: Client;
  readonly clocks: BusinessClocks;
  readonly vault: Vault;
  readonly clientOf: (profile: BusinessProfile) => PaymentsClient;
  readonly log: GatewayLog;
  readonly metrics: Metrics;
  readonly refused: RefusedToday;
  readonly inbox: InboxWriter;
  readonly rates: Rates;
  readonly uses: TokenUses;
  /** True where no business moves real money: then nobody needs to confirm a token. */
  readonly sandboxesOnly: () => boolean;
  readonly unproven: UnprovenBodies;
  /** Real time. */
  readonly nowMs: () => number;
  /** Address under which others reach this gateway, without a slash at the end. */
  readonly publicUrl: () => string;
  /** How long `POST /v1/plans` waits for a worker. */
  readonly planTimeoutMs: number;
  /** Tells the dispatcher that the inbox has something new. */
  readonly wakeDispatcher: () => void;
}
