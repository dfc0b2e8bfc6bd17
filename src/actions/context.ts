import type { Client } from "@temporalio/client";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import type { Store } from "../store/index.ts";
import type { Vault } from "../vault/vault.ts";
import type { BusinessClocks } from "./clocks.ts";
import type { RefusedToday } from "./refused-today.ts";

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** The configured businesses; read again when their file changes. */
export interface BusinessProfiles {
  get(name: string): BusinessProfile | undefined;
  byBusinessId(businessId: string): BusinessProfile | undefined;
  all(): readonly BusinessProfile[];
}

/** Counts occurrences, by label. */
interface Count<Label extends string> {
  inc(labels: Readonly<Record<Label, string>>, value?: number): void;
}

/** What actions, events and reports need from their caller. */
export interface ActionContext {
  readonly store: Store;
  readonly profiles: BusinessProfiles;
  readonly temporal: Client;
  readonly clocks: BusinessClocks;
  readonly vault: Vault;
  readonly clientOf: (profile: BusinessProfile) => PaymentsClient;
  readonly log: Log;
  readonly metrics: {
    readonly signals: Count<"result">;
    readonly recoveredEvents: Count<"business">;
    readonly decisions: Count<"outcome">;
  };
  readonly refused: RefusedToday;
  /** Real time. */
  readonly nowMs: () => number;
  /** Address under which other systems reach this gateway, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Notifies the dispatcher in this process that the inbox has something new. */
  readonly wakeDispatcher: () => void;
}
