import { type ZodType, z } from "zod";

/**
 * Returns the schema of a component, or null. `.nullable()` would describe the component itself as
 * nullable, for all that name it.
 */
export function orNull<Component extends ZodType>(component: Component) {
  return z.union([component, z.null()]);
}
