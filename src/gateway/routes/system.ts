import type { OpenAPIHono } from "@hono/zod-openapi";
import { STORE_TROUBLES } from "../../domain/store-states.ts";
import { z } from "zod";
import type { GatewayContext } from "../http/context.ts";
import { authenticate } from "../http/auth.ts";
import { exampleOf } from "../http/examples/answer-example.ts";
import { EVENT } from "../http/examples/requests.ts";
import type { Shown } from "../../api/shown.ts";
import { ErrorBody, HealthBody, ReadyBody, WebhookBody } from "../../api/system.ts";
import { knownWorkers } from "../../store/sql/worker-leases.ts";
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
      ...{ method: "get", path: "/metrics" },
      message: "Metrics count all businesses together: they need a token that is for all of them.",
    });
    return c.body(await context.metrics.registry.metrics(), 200, {
      "content-type": context.metrics.registry.contentType,
    });
  });

  describeOpenPaths(app);
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "A token made by “payrun token create”",
  });
  // Generated once, at the first request: it takes long, and any stranger may request it.
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(app.getOpenAPI31Document(DOCUMENT));
    return c.body(document, 200, { "content-type": "application/json" });
  });
}

const DOCUMENT = {
  openapi: "3.1.0",
  info: {
    title: "Payrun gateway",
    version: "1",
    description:
      "Plans, runs, decisions and actions. Amounts are integers in US cents; ids in paths are URL-encoded; errors are { error, message, details? }.",
  },
};

/** The event as the specification shows it; the gateway accepts less strict forms. */
const Envelope = z.object({
  id: z.string(),
  type: z.string(),
  sequence: z.string(),
  createdAt: z.string(),
  businessId: z.string(),
  data: z.object({ object: z.string(), id: z.string() }),
});

const SignedHeaders = z.object({
  "service-signature": z
    .string()
    .describe(
      "`t=<unix seconds>,v1=<hex HMAC-SHA256 of <t>.<raw body>>`, keyed with the whole text of the endpoint's secret, `whsec_` included; t may be five minutes off",
    ),
});

/** Describes the paths that are not operations of the API proper, for the OpenAPI document. */
function describeOpenPaths(app: OpenAPIHono): void {
  const json = (description: string, schema: z.ZodType) => ({
    description,
    content: {
      "application/json":
        schema === ErrorBody ? { schema } : { schema, example: exampleOf(schema) },
    },
  });
  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/health",
    tags: ["system"],
    summary: "Whether the process answers",
    responses: { 200: json("It does", HealthBody) },
  });
  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/ready",
    tags: ["system"],
    summary:
      "Whether webhooks are taken, which needs only a store that can be written; and what else works",
    responses: {
      200: json("The store takes webhooks", ReadyBody),
      503: json("The store takes no writes, and `store` says why", ReadyBody),
    },
  });
  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/metrics",
    tags: ["system"],
    summary: "Metrics for Prometheus, to a token that is for all businesses",
    security: [{ token: [] }],
    responses: { 200: { description: "Text format", content: { "text/plain": {} } } },
  });
  app.openAPIRegistry.registerPath({
    method: "post",
    path: "/webhooks/{business}",
    tags: ["webhooks"],
    summary:
      "The Payments Service's events, signed; kept once, then signaled to the workflows that subscribe",
    request: {
      params: z.object({ business: z.string() }),
      headers: SignedHeaders,
      body: {
        required: true,
        content: { "application/json": { schema: Envelope, example: EVENT } },
      },
    },
    responses: {
      200: json("Kept", WebhookBody),
      400: json("Malformed envelope", ErrorBody),
      401: json("Bad signature", ErrorBody),
      404: json("Unknown business", ErrorBody),
      413: json("Larger than 1 MB", ErrorBody),
      415: json("Not application/json", ErrorBody),
      503: json("Not kept, because the store takes no writes now: deliver it again", ErrorBody),
    },
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
