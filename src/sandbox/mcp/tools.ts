import type { ServiceOperation } from "../http/operation.ts";
import { jsonSchemaOf, type OpenApiSchema } from "../openapi/json-schemas.ts";

/** An operation as an MCP tool. */
export interface OperationTool {
  operation: ServiceOperation;
  /** The tool's entry in `tools/list`. */
  definition: ToolDefinition;
  /** Arguments that belong to the query; the rest belong to the body. */
  queryFields: ReadonlySet<string>;
  /** Arguments that are files, in base64. */
  fileFields: ReadonlySet<string>;
}

export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: OpenApiSchema & { type: "object" };
  outputSchema?: OpenApiSchema & { type: "object" };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
}

interface ObjectSchema {
  properties: Record<string, OpenApiSchema>;
  required: string[];
  /** The schema's parts other than its fields, such as alternatives. */
  rest: OpenApiSchema;
}

const keyField = "idempotencyKey";

/**
 * Returns the tool of an operation. Its path parameters, query and body form one object of
 * arguments.
 */
export function toolOf(operation: ServiceOperation): OperationTool {
  const { name, summary, description, method, querySchema, bodySchema, answer } = operation;
  const query = objectSchema(querySchema === undefined ? {} : jsonSchemaOf(querySchema, "input"));
  const body = objectSchema(bodySchema === undefined ? {} : jsonSchemaOf(bodySchema, "input"));
  const files = Object.keys(body.properties).filter((field) => isFile(body.properties[field]));
  for (const field of files) body.properties[field] = base64File;
  const inputSchema = inputOf([pathSchema(operation), query, body, keySchema(operation)]);
  return {
    operation,
    queryFields: new Set(Object.keys(query.properties)),
    fileFields: new Set(files),
    definition: {
      name,
      title: summary.replace(/[.;].*$/s, ""),
      description: description === undefined ? summary : `${summary} ${description}`,
      inputSchema,
      ...(answer.status !== 204 && {
        outputSchema: outputOf(jsonSchemaOf(answer.body, "output")),
      }),
      annotations: {
        readOnlyHint: method === "GET",
        destructiveHint: method === "DELETE" || operation.money === true,
        idempotentHint: method === "GET",
      },
    },
  };
}

const base64File: OpenApiSchema = {
  type: "string",
  contentEncoding: "base64",
  description: "The file's bytes in base64.",
};

function isFile(schema: OpenApiSchema | undefined): boolean {
  return schema?.["format"] === "binary";
}

function objectSchema(schema: OpenApiSchema): ObjectSchema {
  const { type: _, properties = {}, required = [], default: _default, ...rest } = schema;
  return {
    properties: { ...(properties as Record<string, OpenApiSchema>) },
    required: required as string[],
    rest,
  };
}

function pathSchema({ path }: ServiceOperation): ObjectSchema {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
  const properties = Object.fromEntries(
    names.map((name) => [name, { type: "string", minLength: 1 }]),
  );
  return { properties, required: names, rest: {} };
}

function keySchema({ idempotency }: ServiceOperation): ObjectSchema {
  if (idempotency !== "required" && idempotency !== "optional") return objectSchema({});
  const schema = {
    type: "string",
    minLength: 1,
    maxLength: 64,
    description: "One key per action, the same on every resend of it.",
  };
  const required = idempotency === "required" ? [keyField] : [];
  return { properties: { [keyField]: schema }, required, rest: {} };
}

function inputOf(parts: readonly ObjectSchema[]): OpenApiSchema & { type: "object" } {
  const properties: Record<string, OpenApiSchema> = {};
  for (const part of parts) {
    for (const [name, schema] of Object.entries(part.properties)) {
      if (name in properties) throw new Error(`two arguments of a tool are called ${name}`);
      properties[name] = schema;
    }
  }
  const required = parts.flatMap((part) => part.required);
  const rest = Object.assign({}, ...parts.map((part) => part.rest)) as OpenApiSchema;
  return { ...rest, type: "object", properties, ...(required.length > 0 && { required }) };
}

/**
 * Returns an output schema that is an object at its root, because tools answer with objects; a
 * reference there would hide that.
 */
function outputOf(schema: OpenApiSchema): OpenApiSchema & { type: "object" } {
  const {
    $ref,
    $defs = {},
    ...rest
  } = schema as {
    $ref?: string;
    $defs?: Record<string, OpenApiSchema>;
  };
  const named = $ref === undefined ? undefined : $defs[$ref.replace("#/$defs/", "")];
  const { id: _, ...root }: OpenApiSchema = { ...rest, ...named };
  return { ...root, ...(Object.keys($defs).length > 0 && { $defs }), type: "object" };
}
