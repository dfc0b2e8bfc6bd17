import type { DatabaseSync } from "node:sqlite";
import type { BankLink } from "./bank/link.ts";
import type { BankAndWireClock } from "./clock/clock.ts";

/**
 * A fact for the webhooks: its type, its business and the object to read (API specification,
 * section 6).
 */
export interface ServiceEvent {
  type: string;
  businessId: string;
  object: "payable" | "bank_account" | "contact" | "invoice";
  id: string;
}

/** What every part of the running service shares. */
export interface SandboxContext {
  readonly db: DatabaseSync;
  readonly dataDir: string;
  readonly clock: BankAndWireClock;
  readonly bank: BankLink;
  /** Records an event and its deliveries in the caller's transaction. */
  readonly emitEvent: (event: ServiceEvent) => void;
}
