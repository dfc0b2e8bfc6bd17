import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { NoAnswerError, PaymentsApiError } from "../payments-api/index.ts";
import { StoreError } from "../store/index.ts";
import { RulesDifferError } from "../store/runs/launch-in-trail.ts";
import type { GatewayContext } from "./http/context.ts";
import { addContactRoutes } from "./routes/contacts.ts";
import { addOverviewRoutes } from "./routes/overview.ts";
import { addCancellationRoutes } from "./routes/cancellations.ts";
import { addConditionRoutes } from "./routes/conditions.ts";
import { addDecisionRoutes } from "./routes/decisions.ts";
import { addHoldRoutes } from "./routes/holds.ts";
import { addIncidentRoutes } from "./routes/incidents.ts";
import { addOffCycleRoutes } from "./routes/off-cycle.ts";
import { addNoticeRoutes } from "./routes/notices.ts";
import { addOnboardingRoutes } from "./routes/onboardings.ts";
import { addPayableRoutes } from "./routes/payables.ts";
import { addPlanRoutes } from "./routes/plans.ts";
import { addPlaybookRoutes } from "./routes/playbooks.ts";
import { addReleaseRoutes } from "./routes/releases.ts";
import { addServicePaymentRoutes } from "./routes/service-payments.ts";
import { addReportRoutes } from "./routes/reports.ts";
import { addRunRoutes } from "./routes/runs.ts";
import { addScheduleRoutes } from "./routes/schedules.ts";
import { addSearchRoutes } from "./routes/search.ts";
import { addStopRoutes } from "./routes/stops.ts";
import { addSystemRoutes } from "./routes/system.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addTokenRoutes } from "./routes/tokens.ts";
import { addSignInRoutes } from "./sign-in/routes.ts";
import { createConsole, FILES, nothingHere } from "../console/console.ts";
import { refusalPage } from "../console/refusal-page.ts";
import { consoleDoor } from "./console-door.ts";
import { addCodecRoute } from "./codec.ts";
import { receiveWebhook } from "./webhooks.ts";
import { conflict, GatewayError, notFound } from "../actions/errors.ts";
import { errorBody } from "./http/refusals.ts";
import { answerPage } from "./http/html.ts";
import { addressOf, incomingOf, isForPerson, routeOf, subjectOf } from "./http/request.ts";
import { Routes } from "./http/route.ts";

const WEBHOOKS = "/webhooks/:business";

/** Builds the gateway's HTTP API: webhooks, operations, OpenAPI. Every error has the same shape. */
export function createApp(context: GatewayContext): OpenAPIHono {
  const app = new OpenAPIHono();
  app.use(async (c, next) => {
    const started = performance.now();
    const asked = c.req.header("x-request-id");
    const id = asked !== undefined && /^[\w.-]{1,64}$/.test(asked) ? asked : randomUUID();
    c.header("x-request-id", id);
    await next();
    c.header("x-content-type-options", "nosniff");
    if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
    const seconds = (performance.now() - started) / 1000;
    context.metrics.requests.observe(
      { method: c.req.method, route: routeOf(c), status: String(c.res.status) },
      seconds,
    );
  });
  app.use(async (c, next) => {
    // Webhooks have rates of their own, by endpoint, and monitors poll health. The page that says
    // that there were too many requests needs its stylesheet.
    const isOwn = [WEBHOOKS, "/health", FILES].includes(routeOf(c));
    if (!isOwn) await context.rates.address(addressOf(c, context));
    await next();
  });
  app.onError((error, c) => answerError(context, c, error));
  app.notFound((c) => {
    if (isForPerson(c)) return nothingHere(door, c);
    const message = `There is nothing at ${c.req.method} ${c.req.path}; GET /openapi.json lists what there is (ids in a path are URL-encoded).`;
    return answerError(context, c, notFound(message));
  });
  app.post(WEBHOOKS, (c) => receiveWebhook(context, c));
  addSystemRoutes(app, context);
  addSignInRoutes(app, context);
  addCodecRoute(app, context);
  const routes = new Routes(app, context);
  addOperations(routes);
  const door = consoleDoor(context, routes, (c, error) => failed(context, c, error));
  app.route("/", createConsole(door));
  return app;
}

/** Adds every operation of the API. */
export function addOperations(routes: Routes): void {
  addPlaybookRoutes(routes);
  addScheduleRoutes(routes);
  addPlanRoutes(routes);
  addRunRoutes(routes);
  addReportRoutes(routes);
  addServicePaymentRoutes(routes);
  addDecisionRoutes(routes);
  addOffCycleRoutes(routes);
  addHoldRoutes(routes);
  addReleaseRoutes(routes);
  addStopRoutes(routes);
  addCancellationRoutes(routes);
  addIncidentRoutes(routes);
  addNoticeRoutes(routes);
  addPayableRoutes(routes);
  addSearchRoutes(routes);
  addContactRoutes(routes);
  addOverviewRoutes(routes);
  addOnboardingRoutes(routes);
  addTokenRoutes(routes);
  addSessionRoutes(routes);
  addConditionRoutes(routes);
}

async function answerError(
  context: GatewayContext,
  c: Context,
  thrown: unknown,
): Promise<Response> {
  const error = failed(context, c, thrown);
  if (error.status === 401) c.header("www-authenticate", "Bearer");
  // The rest of the body stays unread, so no other request can follow on this connection.
  if (hasUnreadBody(c)) c.header("connection", "close");
  const waitSeconds = retryAfterSeconds(error);
  if (waitSeconds !== undefined) c.header("retry-after", String(waitSeconds));
  if (isForPerson(c)) return answerPage(c, refusalPage(error), error.status);
  return c.json(errorBody(error), error.status);
}

/** Turns what was thrown into the error to answer with; logs it if it is unexpected (5xx). */
function failed(context: GatewayContext, c: Context, thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  if (thrown instanceof StoreError) context.storeProbe.noteFailure(thrown);
  if (error.status >= 500) {
    context.log.error("request failed", {
      requestId: c.res.headers.get("x-request-id"),
      method: c.req.method,
      path: c.req.path,
      ...subjectOf(c),
      error: error.code,
      reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
  }
  return error;
}

function hasUnreadBody(c: Context): boolean {
  const length = c.req.header("content-length") ?? "0";
  const isAnnounced = c.req.header("transfer-encoding") !== undefined || length !== "0";
  return isAnnounced && incomingOf(c)?.complete !== true;
}

/** Returns when the same request may be sent again; undefined if waiting doesn't help. */
function retryAfterSeconds({ status, details }: GatewayError): number | undefined {
  const said = z.object({ retryAfterSeconds: z.number() }).safeParse(details);
  if (said.success) return said.data.retryAfterSeconds;
  return status === 429 || status === 503 ? 2 : undefined;
}

function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (thrown instanceof HTTPException) {
    return new GatewayError("bad_request", thrown.message || "The request is not valid.");
  }
  if (thrown instanceof RulesDifferError) return conflict("trail_differs", thrown.message);
  if (thrown instanceof StoreError) {
    return new GatewayError(`store_${thrown.code}`, thrown.message);
  }
  if (thrown instanceof PaymentsApiError) return serviceError(thrown);
  return new GatewayError(
    "internal_error",
    "Something failed here; the gateway's log says what, under this request's X-Request-Id.",
  );
}

function serviceError(error: PaymentsApiError): GatewayError {
  if (error instanceof NoAnswerError) {
    const message = `The Payments Service can't be reached: ${error.words}.`;
    return new GatewayError("service_unreachable", message);
  }
  const message = `The Payments Service did not answer as expected: ${error.message}.`;
  const status = error.status ?? 503;
  const passes = status === 429 || status >= 500;
  return passes
    ? new GatewayError("service_unreachable", message)
    : new GatewayError("api_unavailable", message);
}
