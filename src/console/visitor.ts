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

/** Somebody who is signed in, and the API as they may use it. */
export interface Visitor {
  readonly name: string;
  readonly roles: readonly string[];
  /** Names of the businesses that they act for. */
  readonly businesses: readonly string[];
  /** True where they may cancel payments and runs. */
  readonly mayOperate: boolean;
  /** Whether they may hold and stop something of a business. */
  readonly mayHold: (business: string) => Promise<boolean>;
  /** The zone in which people of a business are told times. */
  readonly zoneOf: (business: string) => string;
  /** The hidden field of each form, which shows that it is a page of this session that sends it. */
  readonly formToken: { readonly field: string; readonly value: string };
  /** What they had filled in for a page when it asked for a newer sign-in; undefined for nothing. */
  readonly keptForm: (path: string) => Promise<URLSearchParams | undefined>;
  /** Keeps it over the sign-in. */
  readonly keepForm: (path: string, form: URLSearchParams) => Promise<void>;
  /** The same checks as of a request with a bearer token: roles, businesses, rates, bodies. */
  readonly perform: (request: ApiRequest) => Promise<ApiAnswer>;
}

/** What the console asks of the gateway that it stands in. */
export interface Door {
  /** Who is signed in; undefined for nobody. @throws what `refusalOf` reads */
  visitorOf(c: Context): Promise<Visitor | undefined>;
  /** A form that a page of this visitor has sent. @throws what `refusalOf` reads */
  readForm(c: Context, visitor: Visitor): Promise<URLSearchParams>;
  /** What went wrong, for a page; what nobody expected is in the log from now on. */
  refusalOf(c: Context, error: unknown): Refused;
}
