export type { Db } from "./db.ts";
export { StoreError } from "./errors.ts";
export { openStore, type Store } from "./open.ts";
export type { Tables } from "./tables.ts";
