import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json, text } from "node:stream/consumers";
import type { Json } from "./sandbox.ts";

export interface Refusal {
  readonly status: number;
  readonly body?: Json;
  /** True if the service accepts what was sent, whatever it answers. */
  readonly takes?: boolean;
}

/** How the service reports its progress, which the specification leaves open. */
export interface KybServiceOptions {
  /** Returns the word for each step; null for a service that names no steps. */
  readonly word: ((isThere: boolean) => string) | null;
  /** The answer if there is no tax info, or no officer, yet; an empty record by default. */
  readonly missing?: 404 | 204;
  /** True if its records are nested in others, under names of their own. */
  readonly wraps?: boolean;
}

/**
 * A Payments Service with only the verification's addresses, which reports less than the sandbox.
 */
export class KybService {
  readonly businessId = "biz/kyb 1";
  url = "";
  status = "pending";
  tinCheck: string | undefined;
  taxId: string | null = null;
  signer: string | null = null;
  certifier: string | null = null;
  readonly officers: Json[] = [];
  readonly documents: string[] = [];
  readonly bankAccounts: Json[] = [];
  /** Attempted amounts, by account. */
  readonly attempts: { readonly accountId: string; readonly body: Json }[] = [];
  /** Writes that were received, as method and path below the business. */
  readonly writes: string[] = [];
  /** The answers to give instead, by the end of the path: the first of the list, then the next. */
  readonly refusals = new Map<string, Refusal[]>();
  /** What happens elsewhere while a request is on its way. */
  meanwhile: ((request: string) => Promise<void>) | undefined;
  readonly #options: KybServiceOptions;
  readonly #server: Server;

  constructor(options: KybServiceOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      void this.#handle(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    this.url = `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Refuses the next requests whose path has this end, one refusal each. */
  refuse(end: string, ...refusals: Refusal[]): void {
    this.refusals.set(end, refusals);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent((request.url ?? "").split("?")[0] ?? "");
    const method = request.method ?? "GET";
    const isForm = request.headers["content-type"]?.startsWith("multipart/") === true;
    const body =
      method === "GET" ? {} : isForm ? { form: await text(request) } : await json(request);
    const below = path.replace(`/api/businesses/${this.businessId}`, "");
    await this.meanwhile?.(`${method} ${below}`);
    const [end, waiting] =
      [...this.refusals].find(([of]) => `${method} ${below}`.endsWith(of)) ?? [];
    const refusal = end === undefined ? undefined : waiting?.shift();
    if (method !== "GET") this.writes.push(`${method} ${below}`);
    const isTaken = refusal === undefined || refusal.takes === true;
    const answer = isTaken ? this.#answer(method, below, body as Json) : undefined;
    const { missing } = this.#options;
    if (missing !== undefined && refusal === undefined && this.#hasNone(method, below)) {
      response.writeHead(missing, { "content-type": "application/json" });
      return void response.end(missing === 404 ? JSON.stringify(NOT_FOUND) : undefined);
    }
    const status = refusal?.status ?? (method === "GET" ? 200 : 202);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(
      JSON.stringify(refusal === undefined ? answer : (refusal.body ?? refusalOf(refusal.status))),
    );
  }

  #hasNone(method: string, path: string): boolean {
    if (method === "GET" && path === "/tax") return this.taxId === null;
    // The details below the tax info may not exist either.
    if (method === "GET" && path === "/tax/detailed") {
      return this.#options.missing === 404 && this.taxId === null;
    }
    return `${method} ${path}` === "GET /officers" && this.officers.length === 0;
  }

  #answer(method: string, path: string, body: Json): unknown {
    if (method === "GET" && this.#options.wraps === true) return this.#wrapped(path);
    switch (`${method} ${path}`) {
      case "GET ":
        return { id: this.businessId };
      case "GET /tax":
        return { taxIdMask: this.taxId?.slice(-4) ?? null, signature: { signerName: this.signer } };
      case "GET /tax/detailed":
        return this.#verification();
      case "PATCH /tax":
        this.taxId = String(body["ein"] ?? body["ssn"]).replaceAll("-", "");
        this.signer = null;
        return {};
      case "PATCH /tax/signature":
        this.signer = String(body["signerName"]);
        return {};
      case "GET /officers":
        return { officers: this.officers };
      case "POST /officers":
        this.officers.push({
          firstName: body["firstName"],
          lastName: body["lastName"],
          ssnLast4: String(body["ssn"]).slice(-4),
        });
        this.certifier = null;
        return {};
      case "POST /officers/certify-beneficial-ownership":
        this.certifier = String(body["certifierName"]);
        return {};
      case "POST /tax/upload-verification-documents":
        this.documents.push(String(body["form"]));
        this.status = "pending";
        return {};
      case "GET /v1/bank-accounts":
        return { items: this.bankAccounts };
      default:
        return this.#bankAnswer(path, body);
    }
  }

  #wrapped(path: string): unknown {
    if (path === "/tax") {
      const ein = this.taxId === null ? null : `**-***${this.taxId.slice(-4)}`;
      return { data: { taxInfo: { ein, signerName: this.signer } } };
    }
    if (path === "/officers") {
      return {
        data: this.officers.map(({ firstName, lastName, ssnLast4 }) => ({
          fullName: `${String(firstName)} ${String(lastName)}`,
          ssnMask: `***-**-${String(ssnLast4)}`,
        })),
      };
    }
    const kyb = { status: this.status.toUpperCase() };
    const asked = { title: "Keep the telephone near" };
    return {
      data: { status: "ok", irsTinCheck: this.tinCheck ?? "PENDING", kyb, nextSteps: [asked] },
    };
  }

  #bankAnswer(path: string, body: Json): unknown {
    const [, accountId = ""] =
      /^\/v1\/bank-accounts\/(.+)\/verify-micro-deposits$/.exec(path) ?? [];
    const account = this.bankAccounts.find(({ id }) => id === accountId);
    if (account === undefined) throw new Error(`nothing is at ${path}`);
    this.attempts.push({ accountId, body });
    return account;
  }

  #verification(): Json {
    const { word } = this.#options;
    const about = {
      status: this.status,
      requestId: randomUUID(),
      ...(this.tinCheck === undefined ? {} : { tinCheck: { status: this.tinCheck } }),
    };
    if (word === null) return { ...about, nextSteps: ["Go on with the verification"] };
    return {
      ...about,
      taxIdMask: this.taxId?.slice(-4) ?? null,
      steps: {
        tax: word(this.taxId !== null),
        signature: word(this.signer !== null),
        officers: word(this.officers.length > 0),
        certification: word(this.certifier !== null),
        documents: word(this.documents.length > 0),
      },
    };
  }
}

const NOT_FOUND = { error: "not_found", message: "There is none" };

function refusalOf(status: number): Json {
  return status < 300 ? {} : { error: `refused_${status}`, message: `Refused with ${status}` };
}
