import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ZodError, ZodObject, ZodType, z } from "zod";
import type { GatewayContext } from "./context.ts";
import { type Principal, requireRole } from "../../actions/principal.ts";
import { authenticate, requireStillCounts } from "./auth.ts";
import { GatewayError } from "../../actions/errors.ts";
import { readBody, SMALL_BODY_BYTES } from "./limits.ts";
import { noteRefused } from "./refusals.ts";
import { addressOf } from "./request.ts";
import { ErrorBody } from "../../api/schemas.ts";
import { requireTheirs, type ScopedContext, scopedTo } from "./scope.ts";

/** What a handler gets: checked, typed, and with the caller known. */
export interface RouteRequest<Body, Query, Params> {
  readonly principal: Principal;
  /** What the caller's token acts for, and nothing else. */
  readonly context: ScopedContext;
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
  /** Network address of the caller, as this process sees it. */
  readonly from: string;
}

/** What each status answers with. */
type Responses = Readonly<
  Record<number, { readonly description: string; readonly schema: ZodType }>
>;

/** What may be given where a schema is answered with: lists and fields may be readonly. */
type Given<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Given<Value[Key]> }
  : Value;

interface JsonAnswer<Of extends Responses> {
  readonly status: keyof Of & ContentfulStatusCode;
  readonly json: Given<z.input<Of[keyof Of & number]["schema"]>>;
}

export type RouteAnswer<Of extends Responses> =
  | JsonAnswer<Of>
  | { readonly status: ContentfulStatusCode; readonly text: string; readonly contentType: string }
  /** A text that is made while it is sent, as fast as it is read. */
  | {
      readonly status: ContentfulStatusCode;
      readonly stream: AsyncIterable<string>;
      readonly contentType: string;
    };

/** What the address of a request says. */
interface Asked<Query extends ZodObject, Params extends ZodObject> {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
}

export interface RouteSpec<
  Body extends ZodType,
  Query extends ZodObject,
  Params extends ZodObject,
  Of extends Responses,
> {
  readonly method: "get" | "post" | "delete";
  /** OpenAPI form, `/v1/runs/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * Whose it is that the address names, as the API's business id; undefined where nobody knows.
   * `profiles` where the handler finds it among the profiles of its context, which are the token's.
   */
  readonly whose:
    | "profiles"
    | ((asked: Asked<Query, Params>, context: GatewayContext) => Promise<string | undefined>);
  /** Any of these, or of those that what is asked for says; undefined lets every valid token in. */
  readonly roles?:
    | readonly string[]
    | ((asked: Asked<Query, Params>, context: ScopedContext) => Promise<readonly string[]>);
  readonly body?: Body;
  /** 1 MB unless said. */
  readonly bodyMostBytes?: number;
  readonly query?: Query;
  readonly params?: Params;
  readonly responses: Of;
  readonly handle: (
    request: RouteRequest<z.output<Body>, z.output<Query>, z.output<Params>>,
  ) => Promise<RouteAnswer<Of>>;
}

/** Where operations are added. It keeps the whole gateway to itself: a handler gets its caller's part. */
export class Routes {
  readonly #app: OpenAPIHono;
  readonly #context: GatewayContext;

  constructor(app: OpenAPIHono, context: GatewayContext) {
    this.#app = app;
    this.#context = context;
  }

  /**
   * Adds one operation of the API: described in the OpenAPI document. The token, what it acts for
   * and its roles are checked before the body is read, and body, query and path parameters are
   * parsed before the handler runs.
   */
  add<
    Body extends ZodType = ZodType<undefined>,
    Query extends ZodObject = ZodObject<Record<never, never>>,
    Params extends ZodObject = ZodObject<Record<never, never>>,
    const Of extends Responses = Responses,
  >(spec: RouteSpec<Body, Query, Params, Of>): void {
    addRoute(this.#app, this.#context, spec);
  }
}

function addRoute<
  Body extends ZodType,
  Query extends ZodObject,
  Params extends ZodObject,
  Of extends Responses,
>(app: OpenAPIHono, whole: GatewayContext, spec: RouteSpec<Body, Query, Params, Of>): void {
  describe(app, spec);
  app.on(spec.method.toUpperCase(), honoPath(spec.path), async (c) => {
    const caller = await authenticate(c, whole);
    const { principal } = caller;
    const context = scopedTo(whole, caller);
    const handled = async (): Promise<RouteAnswer<Of>> => {
      const { roles = [], whose } = spec;
      const isPlain = typeof roles !== "function";
      if (isPlain && roles.length > 0) requireRole(principal, roles);
      const asked = {
        params: parsePart("path parameter", spec.params, c.req.param()) as z.output<Params>,
        query: parsePart("query parameter", spec.query, c.req.query()) as z.output<Query>,
      };
      if (whose !== "profiles") {
        const what = Object.values(c.req.param()).join("/");
        requireTheirs(context, await whose(asked, whole), what);
      }
      if (!isPlain) requireRole(principal, await roles(asked, context));
      const bodyOf = async ({ body }: typeof spec): Promise<unknown> => {
        if (body === undefined) return undefined;
        const json = await readJson(c, spec.bodyMostBytes);
        // A body may be a minute on its way.
        await requireStillCounts(whole, caller, whole.store.db);
        return parsePart("field", body, json);
      };
      const body = (await bodyOf(spec)) as z.output<Body>;
      return spec.handle({ principal, context, from: addressOf(c), ...asked, body });
    };
    const answer = await handled().catch(async (error: unknown) => {
      const { method, path } = spec;
      const params: Readonly<Record<string, string | undefined>> = c.req.param();
      const { id, name, business = c.req.query("business") } = params;
      await noteRefused(whole, principal, { method, path, subject: id ?? name, business }, error);
      throw error;
    });
    if ("text" in answer) {
      return c.body(answer.text, answer.status, { "content-type": answer.contentType });
    }
    if ("stream" in answer) {
      const bytes = ReadableStream.from(answer.stream).pipeThrough(new TextEncoderStream());
      return c.body(bytes, answer.status, { "content-type": answer.contentType });
    }
    return c.json(answer.json, answer.status);
  });
}

function describe(
  app: OpenAPIHono,
  spec: Omit<RouteSpec<ZodType, ZodObject, ZodObject, Responses>, "handle" | "whose" | "roles">,
): void {
  const error = (description: string): object => ({
    description,
    content: { "application/json": { schema: ErrorBody } },
  });
  const answers = Object.fromEntries(
    Object.entries(spec.responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        content: { "application/json": { schema: response.schema } },
      },
    ]),
  );
  app.openAPIRegistry.registerPath(
    createRoute({
      method: spec.method,
      path: spec.path,
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.description === undefined ? {} : { description: spec.description }),
      security: [{ token: [] }],
      request: {
        ...(spec.params === undefined ? {} : { params: spec.params }),
        ...(spec.query === undefined ? {} : { query: spec.query }),
        ...(spec.body === undefined
          ? {}
          : { body: { required: true, content: { "application/json": { schema: spec.body } } } }),
      },
      responses: {
        ...answers,
        400: error("Malformed: names the field."),
        401: error("No valid token."),
        403: error("The token lacks the role."),
        ...(spec.body === undefined ? {} : { 411: error("No length."), 413: error("Too large.") }),
        429: error("Too many requests: Retry-After says when to come back."),
      },
    }),
  );
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function readJson(c: Context, mostBytes = SMALL_BODY_BYTES): Promise<unknown> {
  const bytes = await readBody(c, mostBytes);
  // An operation whose every field is optional may be called without a body.
  if (bytes.byteLength === 0) return {};
  requireJson(c);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new GatewayError(400, "malformed_json", "The body is not valid JSON in UTF-8.");
  }
}

/** @throws GatewayError 415 unless the request says that it carries JSON */
export function requireJson(c: Context): void {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new GatewayError(
    415,
    "unsupported_media_type",
    `Send the body as application/json${type === undefined ? "; the request names no type" : `, not ${type}`}.`,
  );
}

function parsePart(part: string, schema: ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(part, parsed.error);
}

function invalid(part: string, error: ZodError): GatewayError {
  const details = error.issues.map((issue) => ({
    field: issue.path.join(".") || null,
    message: messageOf(issue),
  }));
  const first = details[0];
  const where =
    first?.field === null || first === undefined ? "The body" : `${part} ${first.field}`;
  return new GatewayError(
    400,
    "validation_error",
    `${where.charAt(0).toUpperCase()}${where.slice(1)}: ${first?.message ?? "is not valid"}${
      details.length > 1 ? ` (and ${details.length - 1} more)` : ""
    }`,
    details,
  );
}

/** zod says “expected string, received undefined” of a field that is not there. */
function messageOf(issue: ZodError["issues"][number]): string {
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return isMissing ? "is missing" : issue.message;
}
