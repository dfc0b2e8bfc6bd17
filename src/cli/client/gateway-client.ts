import type { z } from "zod";

import { definedOnly } from "../../contracts/defined-only.ts";
import type { Shown } from "../../api/shown.ts";
import { isThisMachine } from "../../config/plaintext.ts";
import {
  CliError,
  EXIT,
  type ExitCode,
  errorReason,
  unavailable,
  usageError,
} from "../terminal/cli-error.ts";
import { type Bearer, type GatewayAnswer, httpJson, httpText } from "./http.ts";
import { gatewayOfTokens, ownToken } from "../home/people.ts";
import { readRunning } from "../home/running-file.ts";
import { shellWord } from "../../domain/shell-word.ts";
import type { SpokenConfig } from "./session.ts";
import { HistoryBody, type PayableHistory } from "../../api/history.ts";
import { type RunReview, RunReviewBody } from "../../api/review.ts";
import { DryPlanBody, type DryPlanAnswer, type RunStatus } from "../../api/runs.ts";
import { AnyStatusBody } from "../../api/statuses.ts";
import { ErrorBody } from "../../api/system.ts";

/** A dry plan waits for a worker, which may have to read thousands of bills first. */
const TIMEOUT_MS = 90_000;

/** Bills in one page of the gateway's response. */
const BILLS_A_PAGE = 1_000;

interface Asked {
  readonly body?: object;
  readonly timeoutMs?: number | undefined;
}

/** Selects the bills of a review. */
interface ReviewPage {
  readonly page?: number;
  readonly pageSize?: number;
  /** Payables to show as left out. */
  readonly drop?: readonly string[];
}

/** Returns a client for the gateway, with the caller that the settings and this home specify. */
export function gatewayOf(config: SpokenConfig): GatewayClient {
  const isSet = (name: string) => config.settings.some((each) => each.name === name && each.isSet);
  const isChosen = isSet("PAYRUN_GATEWAY_URL") || isSet("PAYRUN_GATEWAY_PORT");
  const running = isChosen ? undefined : readRunning(config.home);
  const isKept = config.person !== undefined || config.token === undefined;
  const token = ownToken(config);
  // Anyone may have supplied a folder with a home in it, so it doesn't decide where a user's own
  // token is sent.
  const isTold =
    running !== undefined && (config.token === undefined || isHere(running.gatewayUrl));
  if (isKept && token !== undefined && config.homeProblem !== undefined) {
    throw usageError(config.homeProblem);
  }
  const bound = isKept && token !== undefined ? gatewayOfTokens(config.home) : undefined;
  const unsaid = isChosen ? undefined : bound;
  const url = isTold ? running.gatewayUrl : (unsaid ?? config.gatewayUrl);
  if (isKept && token !== undefined && !isSameGateway(url, bound)) {
    throw usageError(
      `the tokens kept in ${config.home} are for ${bound === undefined ? "no gateway that it names" : `the gateway at ${bound}`}, not for ${url}: nothing was sent`,
      "Set PAYRUN_TOKEN to a token of that gateway, or leave its address out.",
    );
  }
  return new GatewayClient({
    url,
    token,
    person: config.person,
    mayCrossInTheClear: config.allowsPlaintext.includes("gateway"),
  });
}

/** True if both addresses are one gateway's; a home that names none keeps its tokens. */
function isSameGateway(url: string, bound: string | undefined): boolean {
  const originOf = (address: string) =>
    URL.parse(address)
      ?.origin.replace("//localhost", "//127.0.0.1")
      .replace("//[::1]", "//127.0.0.1");
  return bound !== undefined && originOf(url) === originOf(bound);
}

function isHere(address: string): boolean {
  return isThisMachine(URL.parse(address)?.hostname ?? "");
}

/** Adds the business to a path if the caller specified one. */
export function ofBusiness(path: string, business: string | undefined): string {
  if (business === undefined) return path;
  return `${path}${path.includes("?") ? "&" : "?"}business=${encodeURIComponent(business)}`;
}

/** The gateway's HTTP API. A refusal becomes one clear line and the right exit code. */
export class GatewayClient {
  readonly url: string;
  readonly #bearer: Bearer;
  /** The person named by `--as`. */
  readonly #person: string | undefined;

  constructor({
    url,
    person,
    ...who
  }: Bearer & { readonly url: string; person?: string | undefined }) {
    this.url = url;
    this.#person = person;
    this.#bearer = who;
  }

  /** Returns a client for the same gateway with another token. */
  as(token: string): GatewayClient {
    return new GatewayClient({ ...this.#bearer, url: this.url, token });
  }

  /**
   * Returns a run with one page of its plan's lines (the first by default), without the bills left
   * out. Polling reads this.
   */
  async run(id: string, page = 1): Promise<RunStatus> {
    const query = `skipped=false&page=${page}&pageSize=${BILLS_A_PAGE}`;
    return this.#payRun(id, query);
  }

  /** Yields every page of the plan's lines in order, the given one first. */
  async *pagesOf(first: RunStatus): AsyncGenerator<RunStatus> {
    yield first;
    for (let next = first.nextPage ?? null; next !== null;) {
      const page = await this.run(first.id, next);
      yield page;
      next = page.nextPage ?? null;
    }
  }

  /** Returns a run with one page of all its bills; those that the plan left out come last. */
  async wholeRun(id: string, page = 1): Promise<RunStatus> {
    const query = `page=${page}&pageSize=${BILLS_A_PAGE}`;
    return this.#payRun(id, query);
  }

  /** Yields every page of all the run's bills in order, the given one first. */
  async *wholeRunPages(first: RunStatus): AsyncGenerator<RunStatus> {
    yield first;
    for (let next = first.nextPage ?? null; next !== null;) {
      const page = await this.wholeRun(first.id, next);
      yield page;
      next = page.nextPage ?? null;
    }
  }

  /** Returns what an approver needs to see of a pay run, with one page of its bills. */
  async review(
    id: string,
    { page = 1, pageSize = BILLS_A_PAGE, drop = [] }: ReviewPage = {},
  ): Promise<RunReview> {
    const out = drop.length === 0 ? "" : `&drop=${encodeURIComponent(drop.join(","))}`;
    const query = `page=${page}&pageSize=${pageSize}${out}`;
    return this.get(`/v1/runs/${encodeURIComponent(id)}/review?${query}`, RunReviewBody);
  }

  /** Yields every page of a review in order, the given one first. */
  async *reviewPages(first: RunReview): AsyncGenerator<RunReview> {
    yield first;
    for (let { nextPage: page } = first; page !== null;) {
      const next = await this.review(first.id, { page, pageSize: first.pageSize });
      yield next;
      page = next.nextPage;
    }
  }

  /** @throws {CliError} if the id belongs to something that has no plan and no bills */
  async #payRun(id: string, query: string): Promise<RunStatus> {
    const status = await this.get(`/v1/runs/${encodeURIComponent(id)}?${query}`, AnyStatusBody);
    if (status.kind === "pay-run" || status.kind === "retry-failed-payment") return status;
    throw usageError(`${id} is not a pay run but a ${status.kind}`, `payrun status ${id}`);
  }

  async history(payableId: string, business?: string): Promise<PayableHistory> {
    const path = `/v1/payables/${encodeURIComponent(payableId)}/history`;
    return this.get(ofBusiness(path, business), HistoryBody);
  }

  async plan(body: {
    readonly playbook: string;
    readonly business?: string;
    readonly period?: string;
    readonly text?: string;
  }): Promise<DryPlanAnswer> {
    return this.post("/v1/plans", DryPlanBody, { ...body, pageSize: BILLS_A_PAGE });
  }

  /** Yields every page of a dry plan in order, the given one first. */
  async *planPages(first: DryPlanAnswer): AsyncGenerator<DryPlanAnswer> {
    yield first;
    const path = `/v1/plans/${encodeURIComponent(first.planId)}`;
    for (let next = first.nextPage; next !== null;) {
      const page = await this.get(`${path}?page=${next}&pageSize=${first.pageSize}`, DryPlanBody);
      yield page;
      next = page.nextPage;
    }
  }

  get<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    timeoutMs?: number,
  ): Promise<Shown<Schema>> {
    return this.#parsed("GET", path, schema, { timeoutMs });
  }

  post<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    body: object,
  ): Promise<Shown<Schema>> {
    return this.#parsed("POST", path, schema, { body });
  }

  /** Posts like `post`, and also returns whether the request created something. */
  async create<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    body: object,
  ): Promise<{ readonly made: Shown<Schema>; readonly isNew: boolean }> {
    const answer = await this.#answered("POST", path, { body });
    return { made: this.#checked("POST", path, schema, answer), isNew: answer.status === 201 };
  }

  delete<Schema extends z.ZodType>(path: string, schema: Schema): Promise<Shown<Schema>> {
    return this.#parsed("DELETE", path, schema);
  }

  /** Yields a text response unchanged, as it arrives. */
  async *text(path: string): AsyncGenerator<string> {
    try {
      const answer = await httpText(`${this.url}${path}`, {
        ...this.#bearer,
        idleMs: TIMEOUT_MS,
      });
      if (!("parts" in answer)) throw this.#refusal(answer);
      yield* answer.parts;
    } catch (error) {
      throw error instanceof CliError ? error : this.#unreachable(error);
    }
  }

  /** Returns the response unchanged, for `--json`, after checking it against its schema. */
  async #parsed<Schema extends z.ZodType>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    schema: Schema,
    asked: Asked = {},
  ): Promise<Shown<Schema>> {
    return this.#checked(method, path, schema, await this.#answered(method, path, asked));
  }

  #checked<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    answer: GatewayAnswer,
  ): Shown<Schema> {
    if (schema.safeParse(answer.body).success) return answer.body as Shown<Schema>;
    throw unavailable(
      "not_a_gateway",
      `what answers at ${this.url} is not a Payrun gateway of this version (${method} ${path})`,
      "Check PAYRUN_GATEWAY_URL.",
    );
  }

  async #answered(
    method: "GET" | "POST" | "DELETE",
    path: string,
    { body, timeoutMs = TIMEOUT_MS }: Asked,
  ): Promise<GatewayAnswer> {
    const options = { ...this.#bearer, body, timeoutMs };
    const answer = await httpJson(method, `${this.url}${path}`, options).catch((error: unknown) => {
      throw error instanceof CliError ? error : this.#unreachable(error);
    });
    if (answer.status >= 400) throw this.#refusal(answer);
    return answer;
  }

  #unreachable(error: unknown): CliError {
    return unavailable(
      "gateway_unreachable",
      `the gateway at ${this.url} can't be reached: ${errorReason(error)}`,
      "Start it with “payrun up” (or “payrun gateway”), or set PAYRUN_GATEWAY_URL.",
    );
  }

  #refusal({ status, body, requestId }: GatewayAnswer): CliError {
    const known = ErrorBody.safeParse(body).data;
    if (known === undefined) {
      return unavailable(
        "not_a_gateway",
        `what answers at ${this.url} is not a Payrun gateway: status ${status}`,
        "Check PAYRUN_GATEWAY_URL.",
      );
    }
    const hint = hintFor(status, known.error, { token: this.#bearer.token, person: this.#person });
    const which = status === 500 && requestId !== undefined ? ` It is ${requestId}.` : "";
    return new CliError(exitCodeFor(status), `${inFlags(known.message)}${which}`, {
      code: known.error,
      details: { status, ...definedOnly({ reason: known.details }) },
      ...definedOnly({ hint }),
    });
  }
}

/** A person at the command line knows flags, not the API's parameters and fields. */
function inFlags(message: string): string {
  return message.replace(/^(?:Query parameter|Path parameter|Field) ([\w.]+): /, "$1 ");
}

function exitCodeFor(status: number): ExitCode {
  if (status === 502 || status === 503 || status === 504) return EXIT.unavailable;
  return status === 400 || status === 422 ? EXIT.usage : EXIT.failed;
}

function hintFor(
  status: number,
  code: string,
  { token, person }: { readonly token: string | undefined; readonly person: string | undefined },
): string | undefined {
  // A token refused by the service, or a missing key, has another remedy, which the message states.
  if (status === 503 && code.endsWith("_unreachable"))
    return "“payrun up” starts what is missing; “payrun doctor” says what that is.";
  if (status !== 401) return undefined;
  if (person !== undefined) {
    return `It is the one that this home keeps for ${person}: “payrun token create ${shellWord(person)} --role ROLE” makes a new one.`;
  }
  return token !== undefined
    ? "The token comes from PAYRUN_TOKEN, or else from admin.token in PAYRUN_HOME."
    : "Set PAYRUN_TOKEN. Where “payrun up” runs, its home holds a local administrator's token.";
}
