import type { StoreState } from "../../domain/store-states.ts";
import type { Db } from "./db.ts";
import { StoreError, type StoreErrorCode } from "./errors.ts";
import { takeLease } from "./leases.ts";
import type { Store } from "./store.ts";

/** A row that only says that it could be written. */
const ROW = { name: "store/writes", holder: "store" } as const;

/** Commits a small write that changes nothing for anyone. */
export async function smallWrite(db: Db): Promise<void> {
  await takeLease(db, ROW, 0);
}

/** Tries a small write, and returns whether it was taken, or why not. */
export async function howItTakesWrites(store: Store): Promise<StoreState> {
  return store.tryToWrite().then(() => "ok", storeStateOf);
}

const STATES: Partial<Readonly<Record<StoreErrorCode, StoreState>>> = {
  full: "full",
  locked: "locked",
  read_only: "read_only",
  refused: "refused",
  replaced: "replaced",
  unreachable: "unreachable",
};

/** Returns what an error of the store says about it. */
export function storeStateOf(error: unknown): StoreState {
  return (error instanceof StoreError && STATES[error.code]) || "failing";
}
