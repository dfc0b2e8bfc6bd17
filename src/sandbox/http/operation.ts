import type { z } from "zod";
import type { SandboxContext } from "../context.ts";
import type { ApiErrorCode } from "./api-error.ts";
import { validate } from "./validation.ts";

/** The caller that the token identifies. */
export interface TokenHolder {
  businessId: string;
  scopes: ReadonlySet<string>;
}

/** A handler's answer; without a `body` it has no content (204). */
export interface OperationAnswer {
  status: number;
  body?: unknown;
}

/** What a handler gets; `body` and `query` have passed the operation's schemas. */
export interface Call<Body, Query> {
  ctx: SandboxContext;
  caller: TokenHolder;
  params: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  /** True if a fault leaves the action half done: of several payments, only the first is made. */
  partially: boolean;
}

/** The same call before validation. */
export type RawCall = Call<unknown, Readonly<Record<string, string>>>;

/** What a success looks like: its status, and the exact shape of its body, if it has one. */
export type AnswerPromise =
  | { readonly status: 200 | 201; readonly body: z.ZodType }
  | { readonly status: 204 };

interface OperationFacts {
  /** The operation's name in OpenAPI and MCP, such as `createPayment`. */
  readonly name: string;
  readonly summary: string;
  /** What a caller should know beyond the summary, such as a choice that is the sandbox's own. */
  readonly description?: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path template such as `/v1/payments/{paymentId}`. */
  readonly path: string;
  /** Any one of these scopes suffices. */
  readonly scopes: readonly string[];
  /** Whether `Idempotency-Key` is required, accepted or refused; reads ignore it (section 7). */
  readonly idempotency: "required" | "optional" | "refused" | "none";
  /** True for a write that moves money: any 5xx is final for its key. */
  readonly money?: boolean;
  /** True if it is still answered but is no longer the recommended way (section 9). */
  readonly deprecated?: boolean;
  /** How the body is sent: JSON by default; each file of a multipart body is an `UploadedFile`. */
  readonly bodyKind?: "json" | "multipart";
  /** The codes that it refuses with, besides those that every operation shares. */
  readonly errors?: readonly ApiErrorCode[];
  readonly answer: AnswerPromise;
}

/** One operation of the service, as REST, MCP and OpenAPI use it. */
export interface ServiceOperation extends OperationFacts {
  readonly bodySchema: z.ZodType | undefined;
  readonly querySchema: z.ZodType | undefined;
  /**
   * Validates the call and carries it out. Synchronous: the caller runs it inside the transaction
   * that also stores the answer under the idempotency key.
   *
   * @throws {ApiError} if the call is refused.
   */
  readonly run: (call: RawCall) => OperationAnswer;
}

/** Defines an operation; its handler sees a validated body and query. */
export function defineOperation<Body = undefined, Query = undefined>(
  definition: OperationFacts & {
    readonly body?: z.ZodType<Body>;
    readonly query?: z.ZodType<Query>;
    readonly handler: (call: Call<Body, Query>) => OperationAnswer;
  },
): ServiceOperation {
  const { body, query, handler, ...facts } = definition;
  return {
    ...facts,
    bodySchema: body,
    querySchema: query,
    run(call) {
      return handler({
        ...call,
        query: validate(query, call.query),
        body: validate(body, call.body),
      });
    },
  };
}
