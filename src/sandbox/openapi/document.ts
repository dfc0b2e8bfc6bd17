import type { z } from "zod";
import type { ServiceOperation } from "../http/operation.ts";
import { allScopes } from "../http/tokens.ts";
import type { ControlRoute } from "../control/routes.ts";
import { addControlPaths } from "./control.ts";
import { bodyExamples } from "./examples.ts";
import { eventWebhook } from "./event.ts";
import { DocumentSchemas, type OpenApiSchema } from "./json-schemas.ts";
import { authErrorSchema, errorSchema, sharedResponses, responsesOf } from "./responses.ts";
import { tagOf, tags } from "./tags.ts";

/**
 * The introduction at the top of the API's page: what the service is, and what the sandbox has
 * chosen.
 */
const about = `A whole Payments Service on this machine, with no real money behind it. It pays vendors by
ACH, receives payments, and pushes signed webhook events.

**Where the specification is silent**, the sandbox had to choose; \`docs/sandbox-choices.md\` lists every choice.
The real service may differ. Those that meet every caller:

- State refusals (\`payment_in_progress\`, \`insufficient_balance\`, \`setup_required\`, \`approval_required\`,
  \`payments_locked\`, \`setup_incomplete\`) are 409, \`feature_unavailable\` is 403, \`contact_not_payable\` 422.
- 400 is for what is no JSON, of a wrong type, missing or combined wrongly; 422 for the right type out of
  range or format. Unknown fields are ignored. A field that may be left out may also be null.
- Checked in this order: token, scope, body as JSON, idempotency key, then the fields and the rules.
- 401 does not bind an idempotency key; 403 and 404 do; a 409, a 429 and a state refusal do not. Keys are kept
  until the sandbox is reset. Two \`Idempotency-Key\` headers are a 400.
- A JSON body may have 1 MiB, one with files 10 MiB.

**The same operations as MCP tools** are at \`/mcp\` (Streamable HTTP), with the same token and scopes; the key is
the argument \`idempotencyKey\`. The same key through REST and MCP conflicts.

Timestamps of resources run on the sandbox's bank clock; events, deliveries, tokens and the \`Date\` header on its
wire clock.`;

const keyNotes = {
  required: "One key per action, the same on every resend of it.",
  optional: "With a key, a resend replays the first answer.",
};

/**
 * Returns the service's OpenAPI 3.1 document, made from its operations, with the sandbox's own
 * control API.
 */
export function openApiDocument(
  operations: readonly ServiceOperation[],
  control: readonly ControlRoute[],
): OpenApiSchema {
  const schemas = new DocumentSchemas("#/components/schemas/");
  const paths: Record<string, OpenApiSchema> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, schemas);
  }
  addControlPaths(paths, control, schemas);
  return {
    openapi: "3.1.0",
    info: { title: "Payments Service (sandbox)", version: "1", description: about },
    servers: [{ url: "/" }],
    tags,
    paths,
    webhooks: { event: eventWebhook },
    components: {
      schemas: { ...schemas.named, Error: errorSchema, AuthError: authErrorSchema },
      responses: sharedResponses,
      parameters: {
        RequiredKey: keyParameter("required"),
        OptionalKey: keyParameter("optional"),
      },
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: `A token of POST /sandbox/tokens. Scopes: ${allScopes.join(", ")}.`,
        },
      },
    },
  };
}

function describe(operation: ServiceOperation, schemas: DocumentSchemas): OpenApiSchema {
  const { name, summary, deprecated, scopes } = operation;
  const body = requestBody(operation, schemas);
  return {
    operationId: name,
    summary,
    description: descriptionOf(operation),
    tags: [tagOf(operation.path)],
    ...(deprecated === true && { deprecated }),
    // Alternatives: any one of the scopes suffices.
    security: scopes.map((scope) => ({ bearer: [scope] })),
    parameters: parameters(operation, schemas),
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(operation, schemas),
  };
}

function descriptionOf({ description, scopes, idempotency, money }: ServiceOperation): string {
  const parts = [description, `Scope: ${scopes.map((scope) => `\`${scope}\``).join(" or ")}.`];
  if (idempotency === "refused") parts.push("Does not accept an `Idempotency-Key`.");
  if (money === true) {
    parts.push(
      "A money write: any 5xx is final for its key, which then answers `payment_unconfirmed`.",
    );
  }
  return parts.filter((part) => part !== undefined).join("\n\n");
}

function parameters(operation: ServiceOperation, schemas: DocumentSchemas): OpenApiSchema[] {
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
  }));
  return [...inPath, ...queryParameters(operation.querySchema, schemas), ...key(operation)];
}

function key({ idempotency }: ServiceOperation): OpenApiSchema[] {
  if (idempotency === "required") return [{ $ref: "#/components/parameters/RequiredKey" }];
  if (idempotency === "optional") return [{ $ref: "#/components/parameters/OptionalKey" }];
  return [];
}

function keyParameter(kind: "required" | "optional"): OpenApiSchema {
  return {
    name: "Idempotency-Key",
    in: "header",
    required: kind === "required",
    description: keyNotes[kind],
    schema: { type: "string", minLength: 1, maxLength: 64 },
  };
}

function queryParameters(query: z.ZodType | undefined, schemas: DocumentSchemas): OpenApiSchema[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemas.add(query, "input") as {
    properties?: Record<string, OpenApiSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function requestBody(
  operation: ServiceOperation,
  schemas: DocumentSchemas,
): OpenApiSchema | undefined {
  const { name, bodySchema, bodyKind } = operation;
  if (bodySchema === undefined) return undefined;
  const example = bodyExamples[name];
  const type = bodyKind === "multipart" ? "multipart/form-data" : "application/json";
  return {
    required: !bodySchema.safeParse(undefined).success,
    content: {
      [type]: {
        schema: schemas.add(bodySchema, "input"),
        ...(example !== undefined && { example }),
      },
    },
  };
}
