export type { Db } from "./db.ts";
export { StoreError, type StoreErrorCode } from "./errors.ts";
export { openStore, type OpenStoreOptions, type Store } from "./open.ts";
export type { Tables } from "./tables.ts";
