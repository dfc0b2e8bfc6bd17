import type { World } from "../world/world.ts";

/** What the bank was told to do, at the moment at which the service accepted it. */
export interface Accepted {
  readonly atMs: number;
  readonly kind: "payment" | "deposit" | "cancel";
  readonly key: string;
  /** The payable, the cancelled payment, or the account. */
  readonly subject: string;
  readonly amountCents: number;
  readonly paymentIds: readonly string[];
  /** A token in the request's own bytes, which identifies the request. */
  readonly request: number;
}

/** One request as the service saw it. */
export interface SeenRequest {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  readonly leftMs: number;
  arrivedMs: number | null;
  carriedOutMs: number | null;
  /** The instant from which it can have no more effect. */
  overMs: number | null;
  answeredMs: number | null;
  status: number | null;
}

/** The bank's own ledger and the service's log, which the engine never reads. */
export class Bank {
  readonly accepted: Accepted[] = [];
  readonly requests: SeenRequest[] = [];
  /** Called at each acceptance, so that rules are checked at once. */
  atAcceptance: ((accepted: Accepted) => void) | undefined;
  /** Called for each write as its bytes leave. */
  atSend: ((request: SeenRequest) => void) | undefined;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  accept(accepted: Omit<Accepted, "atMs">): void {
    const entry = { ...accepted, atMs: this.#world.nowMs };
    this.accepted.push(entry);
    this.atAcceptance?.(entry);
  }

  see(request: Pick<SeenRequest, "method" | "path" | "key" | "body">): SeenRequest {
    const seen: SeenRequest = {
      ...request,
      number: this.requests.length + 1,
      leftMs: this.#world.nowMs,
      arrivedMs: null,
      carriedOutMs: null,
      overMs: null,
      answeredMs: null,
      status: null,
    };
    if (request.method !== "GET") {
      this.requests.push(seen);
      this.atSend?.(seen);
    }
    return seen;
  }
}
