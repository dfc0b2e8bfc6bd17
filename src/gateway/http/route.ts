import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ZodObject, type ZodType, z } from "zod";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { GatewayContext } from "./context.ts";
import { type Principal, requireRole } from "../../actions/principal.ts";
import { authenticate, type Caller, requireStillCounts } from "./auth.ts";
import { notFound } from "../../actions/errors.ts";
import { noteRefused } from "./refusals.ts";
import { exampleOf } from "./examples/answer-example.ts";
import { REQUESTS } from "./examples/requests.ts";
import { answerOnce, keyedBy, KeyHeader, keyIn, takesKey } from "./keyed.ts";
import { parsePart, queryIn, readJson } from "./parts.ts";
import { addressOf } from "./request.ts";
import type { ErrorStatus } from "../../contracts/error-codes.ts";
import { refusalAnswers } from "./refusal-answers.ts";

import { sendJson } from "./send-json.ts";
import { requireTheirs, type ScopedContext, scopedTo } from "./scope.ts";

/** An example of a request or an answer in the OpenAPI document. */
interface Example {
  readonly operation: string;
  readonly schema: ZodType;
  readonly example: unknown;
}

/** What a handler gets: a checked, typed request of a known caller. */
export interface RouteRequest<Body, Query, Params> {
  readonly principal: Principal;
  /** The gateway, restricted to what the caller's token is for. */
  readonly context: ScopedContext;
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
  /** Network address of the caller. */
  readonly from: string;
}

/** What each status answers with. */
type Responses = Readonly<
  Record<
    number,
    {
      readonly description: string;
      readonly schema: ZodType;
      /** True if it may also be a table: the query says so. */
      readonly csv?: true;
    }
  >
>;

/**
 * What a handler may return for a schema: the schema's input, with readonly lists and fields
 * allowed.
 */
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
  /** A text that is generated while it is sent, at the client's pace. */
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
  /** What a generated client calls it: camelCase, a verb first. */
  readonly operationId: string;
  readonly method: "get" | "post" | "delete";
  /** OpenAPI form, `/v1/runs/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * Returns the API's business id of the owner of what the address names; undefined if the owner is
   * unknown. `profiles` if the handler finds the business among its context's profiles, which are
   * the token's.
   */
  readonly whose:
    | "profiles"
    | ((asked: Asked<Query, Params>, context: GatewayContext) => Promise<string | undefined>);
  /**
   * The roles of which the caller needs one, or a function that returns them for a request;
   * undefined lets in every valid token.
   */
  readonly roles?:
    | readonly string[]
    | ((asked: Asked<Query, Params>, context: ScopedContext) => Promise<readonly string[]>);
  readonly body?: Body;
  /** 1 MB by default. */
  readonly bodyMostBytes?: number;
  readonly query?: Query;
  readonly params?: Params;
  readonly responses: Of;
  /** Statuses of its refusals beyond those of every operation. */
  readonly refuses?: readonly ErrorStatus[];
  /** True if a `post` changes nothing that a repeat could double: then a key has no meaning. */
  readonly changesNothing?: true;
  /** True if the answer has a secret, which is shown this once. */
  readonly hasSecret?: true;
  readonly handle: (
    request: RouteRequest<z.output<Body>, z.output<Query>, z.output<Params>>,
  ) => Promise<RouteAnswer<Of>>;
}

/** A request for an operation, as it came: nothing in it is checked yet. */
export interface OperationRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Called only after the caller is known to be allowed. */
  readonly readBody: () => Promise<unknown>;
  readonly from: string;
  /** The sender's key of the request: a repeat with the same one does nothing new. */
  readonly key?: string | undefined;
}

type Operation = (caller: Caller, request: OperationRequest) => Promise<RouteAnswer<Responses>>;

/**
 * The registry of operations. It keeps the whole gateway to itself: a handler gets its caller's
 * part.
 */
export class Routes {
  readonly #app: OpenAPIHono;
  readonly #context: GatewayContext;
  readonly #operations = new Map<string, Operation>();
  readonly #examples: Example[] = [];

  constructor(app: OpenAPIHono, context: GatewayContext) {
    this.#app = app;
    this.#context = context;
  }

  /**
   * Adds one operation of the API and describes it in the OpenAPI document. The token, its
   * businesses and its roles are checked before the body is read; body, query and path parameters
   * are parsed before the handler runs.
   */
  add<
    Body extends ZodType = ZodType<undefined>,
    Query extends ZodObject = ZodObject<Record<never, never>>,
    Params extends ZodObject = ZodObject<Record<never, never>>,
    const Of extends Responses = Responses,
  >(spec: RouteSpec<Body, Query, Params, Of>): void {
    const operation = operationOf(this.#context, spec);
    this.#operations.set(nameOf(spec), operation);
    this.#examples.push(...describe(this.#app, spec));
    addRoute(this.#app, this.#context, spec, operation);
  }

  /** The examples in the OpenAPI document: each operation's request and main answer. */
  get examples(): readonly Example[] {
    return this.#examples;
  }

  /**
   * Performs an operation for a caller that was authenticated in another way, such as by a session.
   * The checks are the same.
   */
  async perform(
    { method, path }: Pick<RouteSpec<ZodType, ZodObject, ZodObject, Responses>, "method" | "path">,
    caller: Caller,
    request: OperationRequest,
  ): Promise<RouteAnswer<Responses>> {
    const operation = this.#operations.get(nameOf({ method, path }));
    if (operation === undefined) throw notFound(`There is no operation ${method} ${path}.`);
    return operation(caller, request);
  }
}

/**
 * Returns the schema of a query, with unknown parameters refused. An unknown parameter may be a
 * misspelled filter; ignoring it would return everything.
 */
function queryOf({ query }: { readonly query?: ZodObject }): ZodObject {
  return (query ?? z.object({})).strict();
}

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/**
 * Builds an operation from its spec: all checks in their order, the same for every way of calling
 * it.
 */
function operationOf<
  Body extends ZodType,
  Query extends ZodObject,
  Params extends ZodObject,
  Of extends Responses,
>(whole: GatewayContext, spec: RouteSpec<Body, Query, Params, Of>) {
  return async (
    caller: Caller,
    { params, query, readBody, from, key }: OperationRequest,
  ): Promise<RouteAnswer<Of>> => {
    const { principal } = caller;
    const context = scopedTo(whole, caller);
    const handled = async (): Promise<RouteAnswer<Of>> => {
      const { roles = [], whose } = spec;
      const isPlain = typeof roles !== "function";
      if (isPlain && roles.length > 0) requireRole(principal, roles);
      const asked = {
        params: parsePart("path parameter", spec.params, params) as z.output<Params>,
        query: parsePart("query parameter", queryOf(spec), query) as z.output<Query>,
      };
      const owner = whose === "profiles" ? undefined : await whose(asked, whole);
      if (whose !== "profiles") requireTheirs(context, owner, Object.values(params).join("/"));
      const requireRoles = async (): Promise<void> => {
        if (!isPlain) requireRole(principal, await roles(asked, context));
      };
      const keyed = key === undefined ? undefined : await keyedBy(whole, principal, spec, key);
      // What a request has done may have ended the roles that could do it.
      if (keyed?.isKnown !== true) await requireRoles();
      const bodyOf = async ({ body }: typeof spec): Promise<unknown> => {
        if (body === undefined) return undefined;
        const json = await readBody();
        // A body may take a minute to arrive.
        await requireStillCounts(whole, caller, whole.store.db);
        return parsePart("field", body, json);
      };
      const body = (await bodyOf(spec)) as z.output<Body>;
      const handle = (within: ScopedContext): Promise<RouteAnswer<Of>> =>
        spec.handle({ principal, context: within, from, ...asked, body });
      if (keyed === undefined) return handle(context);
      const request = keyed.of({ ...asked, body }, owner);
      if (request.kept === undefined && keyed.isKnown) await requireRoles();
      return (await answerOnce(context, request, handle)) as RouteAnswer<Of>;
    };
    return handled().catch(async (error: unknown) => {
      const { method, path } = spec;
      const known: Readonly<Record<string, string | undefined>> = params;
      const { id, name, business = query["business"] } = known;
      await noteRefused(whole, principal, { method, path, subject: id ?? name, business }, error);
      throw error;
    });
  };
}

function addRoute<
  Body extends ZodType,
  Query extends ZodObject,
  Params extends ZodObject,
  Of extends Responses,
>(
  app: OpenAPIHono,
  whole: GatewayContext,
  spec: RouteSpec<Body, Query, Params, Of>,
  operation: Operation,
): void {
  app.on(spec.method.toUpperCase(), honoPath(spec.path), async (c) => {
    const caller = await authenticate(c, whole);
    const answer = await operation(caller, {
      params: c.req.param(),
      query: queryIn(c),
      readBody: () => readJson(c, spec.bodyMostBytes),
      from: addressOf(c, whole),
      ...(takesKey(spec) ? { key: keyIn(c) } : {}),
    });
    if ("text" in answer) {
      return c.body(answer.text, answer.status, { "content-type": answer.contentType });
    }
    if ("stream" in answer) {
      return c.body(bytesOf(answer.stream), answer.status, { "content-type": answer.contentType });
    }
    if (spec.hasSecret === true) return c.json(answer.json, answer.status);
    const reader = spec.method === "get" ? caller.principal : undefined;
    return sendJson(c, { status: answer.status, text: JSON.stringify(answer.json), reader });
  });
}

/** Encodes a text that is generated while it is sent as a stream of bytes. */
function bytesOf(text: AsyncIterable<string>): ReadableStream {
  return ReadableStream.from(text).pipeThrough(new TextEncoderStream());
}

/** @returns the examples in the operation's description */
function describe(
  app: OpenAPIHono,
  spec: Omit<RouteSpec<ZodType, ZodObject, ZodObject, Responses>, "handle" | "whose" | "roles">,
): Example[] {
  const operation = nameOf(spec);
  const examples: Example[] = [];
  const shown = (schema: ZodType, example: unknown) => {
    examples.push({ operation, schema, example });
    return { "application/json": { schema, example } };
  };
  const answers = Object.fromEntries(
    Object.entries(spec.responses).map(([status, { description, schema, csv }]) => [
      status,
      {
        description,
        content: {
          ...shown(schema, exampleOf(schema)),
          ...(csv === true ? { "text/csv": CSV } : {}),
        },
      },
    ]),
  );
  app.openAPIRegistry.registerPath(
    createRoute({
      method: spec.method,
      path: spec.path,
      tags: [spec.tag],
      operationId: spec.operationId,
      summary: spec.summary,
      ...definedOnly({ description: spec.description }),
      security: [{ token: [] }],
      request: {
        ...definedOnly({ params: spec.params, query: spec.query }),
        ...(takesKey(spec) ? { headers: KeyHeader } : {}),
        ...(spec.body === undefined
          ? {}
          : { body: { required: true, content: shown(spec.body, REQUESTS[operation]) } }),
      },
      responses: { ...answers, ...refusalAnswers(statusesOf(spec)) },
    }),
  );
  return examples;
}

/** Statuses that any operation may refuse with. */
const ANYWHERE: readonly ErrorStatus[] = [400, 401, 403, 404, 422, 429, 500, 502, 503];

function statusesOf(
  spec: Pick<RouteSpec<ZodType, ZodObject, ZodObject, Responses>, "method" | "body" | "refuses">,
): readonly ErrorStatus[] {
  return [
    ...ANYWHERE,
    ...(spec.method === "get" ? [] : [409 as const]),
    ...(spec.body === undefined ? [] : [413 as const, 415 as const]),
    ...(spec.refuses ?? []),
  ];
}

const CSV = { schema: z.string(), example: "payableId,state\npbl_0000000000000071,settled\n" };

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
