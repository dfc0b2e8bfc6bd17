import { z } from "@hono/zod-openapi";

/** An instant, ISO 8601 in UTC. */
export const instant = z.string().openapi({ format: "date-time" });

/** A day, YYYY-MM-DD. */
export const day = z.string().openapi({ format: "date" });
