export type { Db } from "./sql/db.ts";
export { StoreError } from "./sql/errors.ts";
export type { Store } from "./sql/store.ts";
export type { Tables } from "./schema/tables.ts";
