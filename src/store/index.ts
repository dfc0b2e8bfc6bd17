export type { Db } from "./db.ts";
export { StoreError } from "./errors.ts";
export { isPostgres, openStore } from "./open.ts";
export type { Store } from "./store.ts";
export type { Tables } from "./tables.ts";
