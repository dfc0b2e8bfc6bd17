import { z } from "zod";

/** An instant as the service writes it: ISO 8601 in UTC. */
export const instantShape = z.iso.datetime();

/** A plain date `YYYY-MM-DD`. */
export const dateShape = z.iso.date();

/**
 * Returns the shape of one page of a paginated list (API specification, section 2, conventions).
 */
export function pageShape<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), totalCount: z.int().min(0) });
}

/** Returns the shape of a list that is not paginated. */
export function listShape<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item) });
}
