import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";
import type { GatewayContext } from "./context.ts";

/** The route that serves a request, `/v1/runs/:id`; it names nobody and nothing. */
export function routeOf(c: Context): string {
  const route = c.req.matchedRoutes.findLast((matched) => matched.path !== "/*");
  return route?.path ?? "none";
}

/** What a request is about, by its address, as each line of the logs names it. */
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

/** Whether somebody looks at the answer in a browser: everything of `/v1` is for programs. */
export function isForPerson(c: Context): boolean {
  if (c.req.path.startsWith("/v1/")) return false;
  return c.req.method === "GET" && c.req.header("accept")?.includes("text/html") === true;
}

/** Network address of the caller, as far as trusted proxies say it, or this process sees it. */
export function addressOf(c: Context, { proxies }: Pick<GatewayContext, "proxies">): string {
  return proxies.callerOf(peerOf(c), c.req.header("x-forwarded-for"));
}

function peerOf(c: Context): string {
  try {
    return getConnInfo(c).remote.address ?? "unknown";
  } catch {
    // Called without a socket.
    return "unknown";
  }
}
