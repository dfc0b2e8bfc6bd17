import type { IncomingMessage } from "node:http";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";
import type { GatewayContext } from "./context.ts";

/** Returns the route that serves a request, such as `/v1/runs/:id`; it contains no names or ids. */
export function routeOf(c: Context): string {
  const route = c.req.matchedRoutes.findLast((matched) => matched.path !== "/*");
  return route?.path ?? "none";
}

/** Returns what a request's address says it is about, in the field names of the logs. */
export function subjectOf(c: Context): { readonly runId?: string; readonly payableId?: string } {
  const [, kind, id] = /^\/(?:v1\/)?(runs|reports|payables|bills)\/([^/]+)/.exec(c.req.path) ?? [];
  if (kind === undefined || id === undefined) return {};
  const named = tryDecode(id);
  return kind === "runs" || kind === "reports" ? { runId: named } : { payableId: named };
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns true if a person reads the answer in a browser; everything under `/v1` is for programs.
 */
export function isForPerson(c: Context): boolean {
  if (c.req.path.startsWith("/v1/")) return false;
  return c.req.method === "GET" && c.req.header("accept")?.includes("text/html") === true;
}

/**
 * Returns the caller's network address: as trusted proxies report it, otherwise as this process
 * sees it.
 */
export function addressOf(c: Context, { proxies }: Pick<GatewayContext, "proxies">): string {
  return proxies.callerOf(peerOf(c), c.req.header("x-forwarded-for"));
}

/** Returns node's own request; there is none if the app is called directly. */
export function incomingOf(c: Context): IncomingMessage | undefined {
  return ((c.env ?? {}) as { readonly incoming?: IncomingMessage }).incoming;
}

function peerOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? "unknown";
  } catch {
    // There is no socket if the app is called directly.
    return "unknown";
  }
}
