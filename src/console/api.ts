import type { z } from "zod";
import type { Shown } from "../api/shown.ts";
import { ErrorBody } from "../api/system.ts";
import { Refused } from "./refused.ts";
import type { ApiAnswer, ApiRequest, Visitor } from "./visitor.ts";

/** What an operation is called with. */
type Asked = Pick<ApiRequest, "params" | "query" | "body">;

/** The API as one visitor may use it: the console reads and acts only through it. */
export class Api {
  readonly #perform: Visitor["perform"];

  constructor({ perform }: Pick<Visitor, "perform">) {
    this.#perform = perform;
  }

  /** @throws Refused */
  get<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    asked: Asked = {},
  ): Promise<Shown<Schema>> {
    return this.#json(schema, { method: "get", path, ...asked });
  }

  /** The same as `get`, but undefined if there is no such thing. @throws Refused */
  async find<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    asked: Asked = {},
  ): Promise<Shown<Schema> | undefined> {
    try {
      return await this.get(schema, path, asked);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** @throws Refused */
  post<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    asked: Asked = {},
  ): Promise<Shown<Schema>> {
    return this.#json(schema, { method: "post", path, body: {}, ...asked });
  }

  /** @throws Refused */
  delete<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    asked: Asked = {},
  ): Promise<Shown<Schema>> {
    return this.#json(schema, { method: "delete", path, ...asked });
  }

  /** Returns a table that is generated while it is sent. @throws Refused */
  async table(path: string, asked: Asked = {}): Promise<AsyncIterable<string>> {
    const answer = await this.#perform({ method: "get", path, ...asked });
    if ("stream" in answer) return answer.stream;
    throw refusedIn(answer);
  }

  async #json<Schema extends z.ZodType>(
    schema: Schema,
    request: ApiRequest,
  ): Promise<Shown<Schema>> {
    const answer = await this.#perform(request);
    if (answer.status >= 400 || "stream" in answer) throw refusedIn(answer);
    return schema.parse(answer.json) as Shown<Schema>;
  }
}

/**
 * Messages for pages, by error code. The API's own message names a command; on a page there is a
 * link instead.
 */
const FOR_PAGES: Readonly<Record<string, string>> = {
  not_parked:
    "It no longer waits for a decision: a person has decided, or it goes on by itself. Its page shows how it stands.",
  service_unreachable:
    "The Payments Service, which has to be asked for this, can’t be asked right now. Try again in a minute.",
  until_past: "The day until which it should last has passed.",
  temporal_unreachable:
    "Temporal, which runs the payments, can’t be reached right now. Try again in a minute; if that doesn’t help, tell the person who runs Payrun.",
};
/** For a visitor who doesn't act for a business, its pages don't exist. */
const NO_PAGE = "business_unknown";

function refusedIn(answer: ApiAnswer): Refused {
  const said = ErrorBody.safeParse("json" in answer ? answer.json : undefined);
  const { error, message } = said.success
    ? said.data
    : { error: "unexpected_answer", message: "The gateway answered with something else." };
  const status = error === NO_PAGE ? 404 : answer.status;
  return new Refused(status, error, FOR_PAGES[error] ?? message);
}

/** One of several acts that are done together, and its result. */
export type ActOutcome = { readonly id: string } & (
  | {
      readonly done: true;
      /** The act's result if it isn't the same for each. */
      readonly says?: string;
    }
  | { readonly done: false; readonly why: string }
);

/**
 * Performs the same act on each id, one after another. If one is refused, the rest still follow.
 *
 * @param act may return its result in words
 */
export async function each(
  ids: readonly string[],
  act: (id: string) => Promise<string | void>,
): Promise<ActOutcome[]> {
  const outcomes: ActOutcome[] = [];
  for (const id of ids) {
    try {
      const says = await act(id);
      outcomes.push({ id, done: true, ...(typeof says === "string" ? { says } : {}) });
    } catch (error) {
      if (!(error instanceof Refused) || error.status >= 500) throw error;
      outcomes.push({ id, done: false, why: error.message });
    }
  }
  return outcomes;
}
