import type { Tables } from "../../../src/store/index.ts";

/**
 * Every column that queries may name: the compiler checks it against the types, the test against
 * the tables.
 */
export type Columns<T extends keyof Tables> = {
  readonly [Table in T]: Readonly<Record<keyof Tables[Table], true>>;
};
