import type { HttpBindings } from "@hono/node-server";
import {
  type AuthInfo,
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import type { Hono } from "hono";
import { type ReadyAnswer, plainAnswer } from "../http/answers.ts";
import { largestUploadBytes } from "../http/body.ts";
import type { ServiceOperation } from "../http/operation.ts";
import { answerRequest, type ServiceParts } from "../http/pipeline.ts";
import { requestOf } from "./request.ts";
import { type OperationTool, toolOf } from "./tools.ts";

type App = Hono<{ Bindings: HttpBindings }>;

/** A file in base64 is a third larger than its bytes. */
const largestRequestBytes = Math.ceil(largestUploadBytes * 1.4);

/** The parts of an HTTP request to `/mcp` that a tool's call needs. */
class Exchange {
  readonly authorization: string | undefined;
  readonly hangUp: () => void;

  constructor(authorization: string | undefined, hangUp: () => void) {
    this.authorization = authorization;
    this.hangUp = hangUp;
  }
}

/**
 * Serves the operations as MCP tools at `/mcp` (Streamable HTTP), through the same pipeline as
 * REST: token, scopes, idempotency, faults and log.
 */
export function addMcpRoute(
  app: App,
  parts: ServiceParts,
  operations: readonly ServiceOperation[],
): void {
  const tools = new Map(operations.map((operation) => [operation.name, toolOf(operation)]));
  const handler = createMcpHandler(({ authInfo }) => serverFor(parts, tools, authInfo), {
    maxRequestBodySize: largestRequestBytes,
    onerror: () => {},
  });
  app.all("/mcp", async (c) => {
    const authorization = c.req.header("authorization");
    const caller = await parts.tokens.check(authorization);
    if (caller === undefined) return unauthorized();
    const exchange = new Exchange(authorization, () => c.env.incoming.socket.destroy());
    return handler.fetch(c.req.raw, {
      authInfo: {
        token: "",
        clientId: caller.businessId,
        scopes: [...caller.scopes],
        extra: { exchange },
      },
    });
  });
}

function unauthorized(): Response {
  const { body, status } = plainAnswer(401, "Unauthorized");
  const headers = { "content-type": "application/json", "www-authenticate": "Bearer" };
  return new Response(body, { status, headers });
}

function serverFor(
  parts: ServiceParts,
  tools: ReadonlyMap<string, OperationTool>,
  authInfo: AuthInfo | undefined,
): Server {
  const server = new Server(
    { name: "payments-service-sandbox", version: "1" },
    {
      capabilities: { tools: {} },
      instructions:
        "Pays vendors by ACH. Amounts ending in Cents are integers in US cents. Money moves need an idempotencyKey: a new one per action, the same one on a resend.",
    },
  );
  const exchange = authInfo?.extra?.["exchange"];
  server.setRequestHandler("tools/list", () => ({
    tools: [...tools.values()].map(({ definition }) => definition),
  }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`);
    }
    if (!(exchange instanceof Exchange)) throw new Error("a tool was called outside of a request");
    const request = requestOf(tool, params.arguments ?? {}, exchange.authorization);
    const answer = await answerRequest(parts, tool.operation, request);
    if (answer.drop === true) exchange.hangUp();
    return resultOf(answer);
  });
  return server;
}

/**
 * Returns an answer as a tool's result; an error keeps its JSON shape, and the status that REST
 * would have.
 */
function resultOf({ status, body, headers }: ReadyAnswer): CallToolResult {
  const retryAfter = headers["retry-after"];
  const structured = structuredOf(body);
  return {
    content: [{ type: "text", text: body ?? "Done." }],
    ...(structured !== undefined && { structuredContent: structured }),
    ...(status >= 400 && { isError: true }),
    _meta: {
      "payments-service/status": status,
      ...(retryAfter !== undefined && { "payments-service/retry-after": retryAfter }),
    },
  };
}

function structuredOf(body: string | null): Record<string, unknown> | undefined {
  if (body === null) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    // A fault has cut the body off.
    return undefined;
  }
}
