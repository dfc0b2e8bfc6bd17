import type { z } from "zod";

/** What a schema describes, in the form in which the gateway answers it and commands read it. */
export type Shown<Schema extends z.ZodType> = Fixed<z.output<Schema>>;

/** An answer is never changed, so all of it is readonly. */
type Fixed<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Fixed<Value[Key]> }
  : Value;
