import type { OpenAPIHono } from "@hono/zod-openapi";
import { STORE_TROUBLES } from "../../domain/store-states.ts";
import type { GatewayContext } from "../http/context.ts";
import { authenticate } from "../http/auth.ts";
import type { Shown } from "../../api/shown.ts";
import type { HealthBody, ReadyBody } from "../../api/system.ts";
import { knownWorkers } from "../../store/sql/worker-leases.ts";
import { describeOpenPaths, documentOf } from "../http/open-paths.ts";
import { inTime } from "../../process/in-time.ts";
import { temporalAnswers } from "../../actions/temporal.ts";
import { requireAllBusinesses } from "../http/refusals.ts";

const READY_TIMEOUT_MS = 2_000;

/** Adds health, readiness, metrics and the API's description. */
export function addSystemRoutes(app: OpenAPIHono, context: GatewayContext): void {
  app.get("/health", (c) => c.json({ status: "ok" } satisfies Shown<typeof HealthBody>, 200));

  app.get("/ready", async (c) => {
    const [store, temporal, noted] = await Promise.all([
      context.storeProbe.state(),
      temporalAnswers(context.temporal, READY_TIMEOUT_MS),
      inTime(workersOf(context), READY_TIMEOUT_MS, "unknown" as const),
    ]);
    // Workers that can't note that they work are not silent.
    const isBehind = store !== "ok" || context.storeProbe.hasJustRecovered;
    const workers = noted === "silent" && isBehind ? "unknown" : noted;
    const parts = { store, temporal: temporal ? "ok" : "unreachable", workers } as const;
    // Ready even if another part is down: the gateway stores webhooks, and a load balancer must go
    // on sending them.
    const body: Shown<typeof ReadyBody> =
      store === "ok"
        ? { status: "ready", ...parts }
        : { status: "not-ready", ...parts, reason: reasonOf(STORE_TROUBLES[store]) };
    return c.json(body, store === "ok" ? 200 : 503);
  });

  app.get("/metrics", async (c) => {
    const { principal } = await authenticate(c, context);
    await requireAllBusinesses(context, principal, {
      method: "get",
      path: "/metrics",
      message: "Metrics count all businesses together: they need a token that is for all of them.",
    });
    return c.body(await context.metrics.registry.metrics(), 200, {
      "content-type": context.metrics.registry.contentType,
    });
  });

  describeOpenPaths(app);
  // Generated once, at the first request: it takes long, and any stranger may request it.
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(documentOf(app, context));
    return c.body(document, 200, { "content-type": "application/json" });
  });
}

/** Returns a trouble of the store as a sentence, with what to do about it. */
function reasonOf({ text, remedy }: (typeof STORE_TROUBLES)["full"]): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. ${remedy}`;
}

async function workersOf({ store }: GatewayContext): Promise<Shown<typeof ReadyBody>["workers"]> {
  try {
    const workers = await knownWorkers(store.db);
    if (workers.length === 0) return "none";
    return workers.some(({ silentMs }) => silentMs === 0) ? "ok" : "silent";
  } catch {
    return "unknown";
  }
}
