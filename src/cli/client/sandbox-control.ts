import { z } from "zod";

import { definedOnly } from "../../contracts/defined-only.ts";
import { CliError, EXIT, errorReason, unavailable } from "../terminal/cli-error.ts";
import { httpJson } from "./http.ts";

const clockShape = z.object({ bank: z.string(), wire: z.string(), scale: z.number() });
const tokenShape = z.object({ token: z.string() });

const ledgerShape = z.object({
  items: z.array(
    z.object({
      at: z.string(),
      kind: z.enum(["debit", "credit", "return", "refund"]),
      paymentId: z.string().nullable(),
      payableId: z.string().nullable(),
      amountCents: z.int(),
    }),
  ),
});

const requestsShape = z.object({
  items: z.array(
    z.object({
      method: z.string(),
      path: z.string(),
      key: z.string().nullable(),
      status: z.number().nullable(),
      at: z.string(),
    }),
  ),
});

export type SandboxTimes = z.infer<typeof clockShape>;
export type BankEntry = z.infer<typeof ledgerShape>["items"][number];
export type ReceivedRequest = z.infer<typeof requestsShape>["items"][number];

/** The sandbox's control API, which the real service doesn't have. */
export class SandboxControl {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async token(businessId: string, expiresInSeconds: number): Promise<string> {
    const body = { businessId, expiresInSeconds };
    return (await this.#call("POST", "/sandbox/tokens", tokenShape, body)).token;
  }

  clock(): Promise<SandboxTimes> {
    return this.#call("GET", "/sandbox/clock", clockShape);
  }

  changeClock(change: {
    readonly scale?: number;
    readonly advance?: string;
  }): Promise<SandboxTimes> {
    return this.#call("POST", "/sandbox/clock", clockShape, change);
  }

  /** Replaces all rules; an empty list clears them. */
  async faults(rules: readonly object[], webhooks?: object): Promise<void> {
    const body = { rules, ...definedOnly({ webhooks }) };
    await this.#call("POST", "/sandbox/faults", z.unknown(), body);
  }

  /** Returns every movement of money that the bank has made, in order. */
  async ledger(): Promise<readonly BankEntry[]> {
    return (await this.#call("GET", "/sandbox/ledger", ledgerShape)).items;
  }

  /** Returns every request that the service has received, in order. */
  async requests(): Promise<readonly ReceivedRequest[]> {
    return (await this.#call("GET", "/sandbox/requests", requestsShape)).items;
  }

  async #call<T>(
    method: "GET" | "POST",
    path: string,
    shape: z.ZodType<T>,
    body?: object,
  ): Promise<T> {
    const answer = await httpJson(method, `${this.url}${path}`, { body }).catch(
      (error: unknown) => {
        throw unavailable(
          "sandbox_unreachable",
          `the sandbox at ${this.url} does not answer: ${errorReason(error)}`,
          "“payrun up” or “payrun sandbox” starts one; PAYRUN_SANDBOX_PORT names the port of another.",
        );
      },
    );
    if (answer.status >= 300) {
      throw new CliError(
        EXIT.failed,
        `the sandbox refused ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`,
        { code: "sandbox_refused" },
      );
    }
    return shape.parse(answer.body);
  }
}
