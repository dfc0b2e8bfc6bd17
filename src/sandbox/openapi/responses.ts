import { type ApiErrorCode, errorStatus } from "../http/api-error.ts";
import type { ServiceOperation } from "../http/operation.ts";
import type { DocumentSchemas, OpenApiSchema } from "./json-schemas.ts";

const meanings: Readonly<Record<number, string>> = {
  400: "A malformed body, a wrong type, a missing field or an invalid combination.",
  401: "The token is missing, malformed or expired.",
  403: "The token lacks the scope, or the feature is not enabled.",
  404: "It does not exist, or belongs to another organization.",
  409: "A conflict, or a state that does not allow it now.",
  413: "The body is too large.",
  415: "The body has another content type.",
  422: "A field is out of range or format, or a rule of the business is broken.",
  429: "Too many requests; only a fault on demand answers this.",
  500: "The service failed; only a fault on demand answers this.",
};

/** The answer of an authentication or permission failure (API specification, section 7). */
export const authErrorSchema: OpenApiSchema = {
  type: "object",
  properties: { statusCode: { type: "integer" }, message: { type: "string" } },
  required: ["statusCode", "message"],
  additionalProperties: false,
};

/** The shape of every other error (API specification, section 7). */
export const errorSchema: OpenApiSchema = {
  type: "object",
  properties: {
    error: { type: "string", description: "Machine-readable, in lower snake case." },
    message: { type: "string", description: "For people." },
    details: { type: "object" },
  },
  required: ["error", "message"],
};

/** Returns every response of an operation by its status, errors included. */
export function responsesOf(operation: ServiceOperation, schemas: DocumentSchemas): OpenApiSchema {
  const errors = documentedErrors(operation);
  const statuses = [...new Set([...errors.keys(), 401, 403])].toSorted((a, b) => a - b);
  const failures = statuses.map((status) => [
    status,
    sharedByStatus[status] ?? failure(status, errors.get(status)),
  ]);
  return Object.fromEntries([
    success(operation, schemas),
    ...failures,
    [429, { $ref: "#/components/responses/RateLimited" }],
    [500, { $ref: "#/components/responses/Failed" }],
  ]) as OpenApiSchema;
}

const sharedByStatus: Readonly<Record<number, OpenApiSchema>> = {
  413: { $ref: "#/components/responses/TooLarge" },
  415: { $ref: "#/components/responses/OtherContentType" },
};

/** The responses that operations share, including those of faults on demand. */
export const sharedResponses: OpenApiSchema = {
  TooLarge: failure(413, ["payload_too_large"]),
  OtherContentType: failure(415, ["validation_error"]),
  RateLimited: {
    ...failure(429, ["rate_limited"]),
    headers: {
      "Retry-After": {
        description: "Seconds, or a date: by turns.",
        schema: { type: "string" },
      },
    },
  },
  Failed: failure(500, ["internal_error"]),
};

function success({ answer }: ServiceOperation, schemas: DocumentSchemas): [number, OpenApiSchema] {
  if (answer.status === 204) return [204, { description: "Done; there is no body." }];
  const description = answer.status === 201 ? "Created." : "Done.";
  return [answer.status, { description, content: json(schemas.add(answer.body, "output")) }];
}

/**
 * Returns the codes that an operation refuses with, by status; 401 and a missing scope have none.
 */
export function documentedErrors(operation: ServiceOperation): Map<number, string[]> {
  const byStatus = new Map<number, string[]>();
  const add = (status: number, code: string) => {
    const codes = byStatus.get(status) ?? [];
    if (!codes.includes(code)) byStatus.set(status, [...codes, code]);
  };
  const { idempotency, bodySchema, querySchema, errors = [] } = operation;
  const isWrite = operation.method !== "GET";
  if (isWrite || querySchema !== undefined) add(400, "validation_error");
  if (bodySchema !== undefined || querySchema !== undefined) add(422, "validation_error");
  if (isWrite) add(413, "payload_too_large");
  if (isWrite) add(415, "validation_error");
  if (operation.path.includes("{")) add(404, "not_found");
  if (idempotency === "required" || idempotency === "optional") add(409, "idempotency_conflict");
  if (operation.money === true) add(409, "payment_unconfirmed");
  for (const code of errors) add(errorStatus[code satisfies ApiErrorCode], code);
  return byStatus;
}

function failure(status: number, codes: readonly string[] = []): OpenApiSchema {
  const auth = { $ref: "#/components/schemas/AuthError" };
  const refused = { ...errorSchema, properties: { ...properties(), error: { enum: codes } } };
  const isAuth = status === 401 || status === 403;
  const schema = !isAuth ? refused : codes.length === 0 ? auth : { anyOf: [auth, refused] };
  const told = codes.map((code) => `\`${code}\``).join(", ");
  const meaning = meanings[status] ?? "Refused.";
  return {
    description: told === "" ? meaning : `${meaning} Codes: ${told}.`,
    content: json(schema),
  };
}

function properties(): OpenApiSchema {
  return errorSchema["properties"] as OpenApiSchema;
}

function json(schema: OpenApiSchema): OpenApiSchema {
  return { "application/json": { schema } };
}
