import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";

/** The route that serves a request, `/v1/runs/:id`; it names nobody and nothing. */
export function routeOf(c: Context): string {
  const route = c.req.matchedRoutes.findLast((matched) => matched.path !== "/*");
  return route?.path ?? "none";
}

/** Network address of the caller, as this process sees it. */
export function addressOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? "unknown";
  } catch {
    // Called without a socket.
    return "unknown";
  }
}
