import type { IncomingMessage, Server } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { type HttpBindings, serve } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { accountingDdl } from "./accounting/tables.ts";
import { microDepositsDdl } from "./bank-accounts/micro-deposits.ts";
import { allCash } from "./balance/cash.ts";
import { balanceDdl } from "./balance/transfer-rows.ts";
import { bankDdl } from "./bank/outbox.ts";
import { BankLink } from "./bank/link.ts";
import { businessesDdl } from "./businesses/tables.ts";
import { BankAndWireClock } from "./clock/clock.ts";
import type { SandboxContext } from "./context.ts";
import { Faults, faultsDdl } from "./control/faults.ts";
import { RequestLog, requestLogDdl } from "./control/request-log.ts";
import { Resetting } from "./control/reset.ts";
import { addControlRoutes } from "./control/routes.ts";
import { openDatabase } from "./db.ts";
import { errorAnswer, type ReadyAnswer } from "./http/answers.ts";
import { largestUploadBytes, receiveBody } from "./http/body.ts";
import { answerBrokenRequests } from "./http/broken-requests.ts";
import { IdempotencyKeys, idempotencyDdl } from "./http/idempotency.ts";
import type { ServiceOperation } from "./http/operation.ts";
import { answerRequest, type ServiceParts } from "./http/pipeline.ts";
import { Tokens } from "./http/tokens.ts";
import { addMcpRoute } from "./mcp/routes.ts";
import { openApiDocument } from "./openapi/document.ts";
import { addDocumentRoutes } from "./openapi/routes.ts";
import { operations } from "./operations.ts";
import { invoicesDdl } from "./invoices/tables.ts";
import { PaymentEngine } from "./payments/engine.ts";
import { magicDdl } from "./payments/magic.ts";
import { outcomesDdl } from "./payments/outcomes.ts";
import { scheduleDdl } from "./schedule/scheduled-steps.ts";
import { payableCountsDdl } from "./resources/payable-list.ts";
import { payableSearchDdl } from "./resources/payable-search.ts";
import { resourcesDdl } from "./schema.ts";
import { WebhookDeliverer } from "./webhooks/deliverer.ts";
import { emitEvent } from "./webhooks/events.ts";
import { webhooksDdl } from "./webhooks/tables.ts";

const keepAliveMs = 70_000;

/** A running service. */
export interface SandboxService {
  url: string;
  resetting: Resetting;
  /** True if its data directory already held a service's state. */
  hadState: boolean;
  stop(): Promise<void>;
}

export interface SandboxOptions {
  host: string;
  port: number;
  dataDir: string;
}

/** Starts the service and its bank; rejects if the port is taken. */
export async function startService(options: SandboxOptions): Promise<SandboxService> {
  const db = openDatabase(join(options.dataDir, "sandbox.sqlite"), [
    resourcesDdl,
    payableCountsDdl,
    payableSearchDdl,
    outcomesDdl,
    idempotencyDdl,
    faultsDdl,
    requestLogDdl,
    bankDdl,
    balanceDdl,
    magicDdl,
    webhooksDdl,
    scheduleDdl,
    microDepositsDdl,
    accountingDdl,
    invoicesDdl,
    businessesDdl,
  ]);
  const clock = new BankAndWireClock(db);
  const bank = new BankLink({ db, dataDir: options.dataDir, cashOf: allCash });
  const ctx: SandboxContext = {
    db,
    dataDir: options.dataDir,
    clock,
    bank,
    emitEvent: (event) => emitEvent(db, event, clock.wireNow()),
  };
  const deliverer = new WebhookDeliverer({ db, clock });
  const engine = new PaymentEngine(ctx);
  const parts: ServiceParts = {
    ctx,
    engine,
    tokens: new Tokens(ctx),
    keys: new IdempotencyKeys(ctx),
    faults: new Faults(db),
    log: new RequestLog(db),
  };
  const resetting = new Resetting(parts);
  const hadState = db.prepare("SELECT 1 FROM businesses LIMIT 1").get() !== undefined;
  await bank.start();
  engine.start();
  deliverer.start();
  const server = await listen(makeApp(parts, resetting), options);
  return {
    url: addressOf(server, options.host),
    resetting,
    hadState,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      engine.stop();
      await deliverer.stop();
      parts.log.flush();
      await bank.stop();
      clock.close();
      db.close();
    },
  };
}

type App = Hono<{ Bindings: HttpBindings }>;

function makeApp(parts: ServiceParts, resetting: Resetting): App {
  const app: App = new Hono();
  app.use(async (c, next) => {
    if (c.req.path !== "/sandbox/reset") await resetting.done;
    await next();
    // Set on Node's own response: a header on the framework's response turns its body into a web
    // stream, which costs half a request's time.
    const { outgoing } = c.env;
    if (!outgoing.headersSent) {
      outgoing.setHeader("date", new Date(parts.ctx.clock.wireNow()).toUTCString());
    }
  });
  const control = addControlRoutes(app, parts, resetting);
  addDocumentRoutes(app, () => openApiDocument(operations, control));
  addMcpRoute(app, parts, operations);
  for (const operation of operations) {
    const path = operation.path.replace(/\{(\w+)\}/g, ":$1");
    app.on(operation.method, path, (c) => respond(c, parts, operation));
  }
  app.notFound((c) => {
    if (/^\/(v1|api)\//.test(c.req.path)) return respond(c, parts, undefined);
    return c.json({ error: "not_found", message: "There is nothing at this address" }, 404);
  });
  app.onError((error) => toResponse(errorAnswer(error)));
  return app;
}

async function respond(
  c: Context<{ Bindings: HttpBindings }>,
  parts: ServiceParts,
  operation: ServiceOperation | undefined,
): Promise<Response> {
  const { incoming } = c.env;
  const limit = operation?.bodyKind === "multipart" ? largestUploadBytes : undefined;
  const raw = await receiveBody(incoming, limit).catch((error: unknown) => errorAnswer(error));
  if (!(raw instanceof Uint8Array)) return toResponse(raw);
  const answer = await answerRequest(parts, operation, {
    channel: `REST ${c.req.method}`,
    logAs: c.req.method,
    method: c.req.method,
    path: c.req.path,
    params: c.req.param(),
    query: c.req.query(),
    authorization: c.req.header("authorization"),
    idempotencyKeys: keysOf(incoming),
    body: { raw, contentType: c.req.header("content-type") },
  });
  if (answer.drop !== true) return toResponse(answer);
  c.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/**
 * Returns the idempotency keys of a request. Node joins repeated headers with a comma, which a key
 * may contain, so the headers are read one by one only if there is a comma.
 */
function keysOf(incoming: IncomingMessage): readonly string[] {
  const joined = incoming.headers["idempotency-key"];
  if (typeof joined !== "string") return joined ?? [];
  return joined.includes(",")
    ? (incoming.headersDistinct["idempotency-key"] ?? [joined])
    : [joined];
}

function toResponse({ status, body, headers }: ReadyAnswer): Response {
  const isJson = body !== null && !("content-type" in headers);
  return new Response(body, {
    status,
    headers: isJson ? { "content-type": "application/json", ...headers } : headers,
  });
}

async function listen(app: App, { host, port }: SandboxOptions): Promise<Server> {
  const server = serve({ fetch: app.fetch, hostname: host, port }) as Server;
  await once(server, "listening");
  // Longer than any client keeps an idle connection: otherwise a reused connection could close
  // under a request.
  server.keepAliveTimeout = keepAliveMs;
  answerBrokenRequests(server);
  return server;
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
