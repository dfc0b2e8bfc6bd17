import { ApiError, malformed } from "../http/api-error.ts";
import { ReceivedFile } from "../http/multipart.ts";
import type { ServiceRequest } from "../http/pipeline.ts";
import type { OperationTool } from "./tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Returns a tool call as a request of the service. Wrong arguments are refused at the point at
 * which REST refuses a wrong body: after token and scope, in the same shape.
 */
export function requestOf(
  tool: OperationTool,
  given: Arguments,
  authorization: string | undefined,
): ServiceRequest {
  const { operation } = tool;
  const { idempotencyKey, ...fields } = given;
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const inPath = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  for (const [name, value] of Object.entries(fields)) {
    if (inPath.has(name)) params[name] = textOf(value) ?? "";
    else if (!tool.queryFields.has(name)) body[name] = value;
    else if (value !== null && value !== undefined) query[name] = textOf(value) ?? "?";
  }
  return {
    channel: `MCP ${operation.name}`,
    logAs: "MCP",
    method: operation.method,
    path: operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? ""),
    params,
    query,
    authorization,
    idempotencyKeys: typeof idempotencyKey === "string" ? [idempotencyKey] : [],
    body: {
      raw: new Uint8Array(Buffer.from(JSON.stringify(given))),
      value: () => {
        checkKey(idempotencyKey);
        for (const name of inPath) {
          if (name !== undefined && !params[name]) throw malformed(name, `${name}: is required`);
        }
        if (operation.method === "GET" || Object.keys(body).length === 0) return undefined;
        return withFiles(body, tool.fileFields);
      },
    },
  };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function checkKey(key: unknown): void {
  if (key === undefined || key === null || typeof key === "string") return;
  throw new ApiError(400, "validation_error", "idempotencyKey: must be a text", {
    field: "idempotencyKey",
  });
}

function withFiles(
  body: Readonly<Record<string, unknown>>,
  fileFields: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (!fileFields.has(name) || value === undefined || value === null) return [name, value];
      if (typeof value !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
        throw malformed(name, `${name}: must be a file in base64`);
      }
      const bytes = new Uint8Array(Buffer.from(value, "base64"));
      return [name, new ReceivedFile(bytes.buffer, name, "application/octet-stream")];
    }),
  );
}
