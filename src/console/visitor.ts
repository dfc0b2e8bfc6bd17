import type { Context } from "hono";
import type { Refused } from "./refused.ts";

/** An operation of the API, as the OpenAPI document names it. */
export interface ApiRequest {
  readonly method: "get" | "post" | "delete";
  /** `/v1/runs/{id}`. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What HTTP would answer, errors included. */
export type ApiAnswer =
  | { readonly status: number; readonly json: unknown }
  | {
      readonly status: number;
      readonly stream: AsyncIterable<string>;
      readonly contentType: string;
    };

/** A person who is signed in, and the API as they may use it. */
export interface Visitor {
  readonly name: string;
  readonly roles: readonly string[];
  /** Names of the businesses that they act for. */
  readonly businesses: readonly string[];
  /** True if they may cancel payments and runs. */
  readonly mayOperate: boolean;
  /** Returns true if they may hold and stop something of a business. */
  readonly mayHold: (business: string) => Promise<boolean>;
  /** The time zone in which people of a business read times. */
  readonly zoneOf: (business: string) => string;
  /** The hidden field of each form, which proves that a page of this session sent it. */
  readonly formToken: { readonly field: string; readonly value: string };
  /** What they had filled in on a page when it asked for a newer sign-in; undefined if nothing. */
  readonly keptForm: (path: string) => Promise<URLSearchParams | undefined>;
  /** Keeps a form through the sign-in. */
  readonly keepForm: (path: string, form: URLSearchParams) => Promise<void>;
  /**
   * Makes the same checks as for a request with a bearer token: roles, businesses, rates, bodies.
   */
  readonly perform: (request: ApiRequest) => Promise<ApiAnswer>;
}

/** What the console needs from the gateway around it. */
export interface Door {
  /**
   * Returns the visitor who is signed in; undefined if nobody is. @throws what `refusalOf` reads
   */
  visitorOf(c: Context): Promise<Visitor | undefined>;
  /** Reads a form that a page of this visitor has sent. @throws what `refusalOf` reads */
  readForm(c: Context, visitor: Visitor): Promise<URLSearchParams>;
  /** Returns what went wrong, for a page; logs it if it is unexpected. */
  refusalOf(c: Context, error: unknown): Refused;
}
