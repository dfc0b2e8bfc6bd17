import type { z } from "zod";

/** What a schema describes, as the gateway answers it and commands read it. */
export type Shown<Schema extends z.ZodType> = Fixed<z.output<Schema>>;

/** Nobody changes an answer. */
type Fixed<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Fixed<Value[Key]> }
  : Value;
