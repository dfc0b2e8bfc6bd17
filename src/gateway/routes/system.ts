import type { OpenAPIHono } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { GatewayContext } from "../context.ts";
import { authenticate } from "../http/auth.ts";
import { temporalAnswers } from "../temporal.ts";

const READY_TIMEOUT_MS = 2_000;

/** Health, readiness, metrics and the API's description. */
export function addSystemRoutes(app: OpenAPIHono, context: GatewayContext): void {
  app.get("/health", (c) => c.json({ status: "ok" }, 200));

  app.get("/ready", async (c) => {
    const [store, temporal] = await Promise.all([
      storeAnswers(context),
      temporalAnswers(context.temporal, READY_TIMEOUT_MS),
    ]);
    const parts = {
      store: store ? "ok" : "unreachable",
      temporal: temporal ? "ok" : "unreachable",
    };
    const ready = store && temporal;
    return c.json({ status: ready ? "ready" : "not-ready", ...parts }, ready ? 200 : 503);
  });

  app.get("/metrics", async (c) => {
    await authenticate(c, context.store, context.nowMs());
    return c.body(await context.metrics.registry.metrics(), 200, {
      "content-type": context.metrics.registry.contentType,
    });
  });

  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: "A token made by “payrun token create”",
  });
  app.get("/openapi.json", async (c) => {
    await authenticate(c, context.store, context.nowMs());
    return c.json(
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: {
          title: "Payrun gateway",
          version: "1",
          description:
            "Plans, runs, decisions and actions. Amounts are integers in US cents; ids in paths are URL-encoded; errors are { error, message, details? }.",
        },
      }),
      200,
    );
  });
}

async function storeAnswers(context: GatewayContext): Promise<boolean> {
  try {
    await sql`select 1`.execute(context.store.db);
    return true;
  } catch {
    return false;
  }
}
