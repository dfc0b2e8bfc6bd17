import { z } from "zod";
import type { Shown } from "../api/shown.ts";
import { Refused } from "./refused.ts";
import type { ApiAnswer, ApiRequest, Visitor } from "./visitor.ts";

const refusal = z.object({ error: z.string(), message: z.string() });

/** What an operation is called with. */
type Asked = Pick<ApiRequest, "params" | "query" | "body">;

/** The API as one visitor uses it: the console reads and does nothing but through it. */
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

  /** The same, undefined where there is no such thing. @throws Refused */
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

  /** A table that is made while it is sent. @throws Refused */
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

/** Where the API names a command, and a page has a link instead. */
const FOR_PAGES: Readonly<Record<string, string>> = {
  not_parked:
    "It waits for no decision any more: somebody has decided, or it goes its way again. Its page says how it stands.",
  service_unreachable:
    "The Payments Service, which has to be asked for this, can’t be asked right now. Try again in a minute.",
  until_past: "The day until which it should last has passed.",
  temporal_unreachable:
    "Temporal, which runs the payments, can’t be reached right now. Try again in a minute; if it stays so, tell whoever runs Payrun.",
};
/** To whoever doesn't act for a business its pages are no pages. */
const NO_PAGE = "business_unknown";

function refusedIn(answer: ApiAnswer): Refused {
  const said = refusal.safeParse("json" in answer ? answer.json : undefined);
  const { error, message } = said.success
    ? said.data
    : { error: "unexpected_answer", message: "The gateway answered with something else." };
  const status = error === NO_PAGE ? 404 : answer.status;
  return new Refused(status, error, FOR_PAGES[error] ?? message);
}

/** One act of several at once, and what became of it. */
export type Outcome = { readonly id: string } & (
  | {
      readonly done: true;
      /** What came of it, where that is not the same for each. */
      readonly says?: string;
    }
  | { readonly done: false; readonly why: string }
);

/**
 * Does the same with each of these, one after the other: what is refused stops none of the others.
 *
 * @param act may say what came of it
 */
export async function each(
  ids: readonly string[],
  act: (id: string) => Promise<string | void>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
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
