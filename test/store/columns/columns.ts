import type { Tables } from "../../../src/store/index.ts";

/** Every column that queries may name: the compiler holds this to the types, the test to the tables. */
export type Columns<T extends keyof Tables> = {
  readonly [Table in T]: Readonly<Record<keyof Tables[Table], true>>;
};
