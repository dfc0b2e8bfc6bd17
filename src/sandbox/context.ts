import type { DatabaseSync } from "node:sqlite";
import type { BankLink } from "./bank/link.ts";
import type { SandboxClock } from "./clock/clock.ts";

/** What every part of the running service shares. */
export interface SandboxContext {
  readonly db: DatabaseSync;
  readonly dataDir: string;
  readonly clock: SandboxClock;
  readonly bank: BankLink;
}
