import type { World } from "../world/world.ts";
import type { FaultPlan } from "./kinds.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface KeyRow {
  readonly fingerprint: string;
  readonly startedMs: number;
  readonly isMoney: boolean;
  /** `bound`: refused, and only the same body is accepted again. */
  state: "running" | "stored" | "dead" | "bound";
  answer: Answer | undefined;
}

/** A money write whose first request has run this long may or may not have taken effect. */
const UNCONFIRMED_MS = 5 * 60_000;

/**
 * The least time for which a key is remembered; it is also kept while one of its requests is
 * inside.
 */
const REMEMBERED_MS = 15 * 60_000;

export function refusal(error: string, message: string = error): unknown {
  return { error, message };
}

/** Idempotency keys, by section 7 of the specification. */
export class Keys {
  readonly #world: World;
  readonly #faults: FaultPlan;
  readonly #rows = new Map<string, KeyRow>();
  /** Requests of a key that are inside the service, waiting ones included. */
  readonly #inHouse = new Map<string, number>();

  constructor(world: World, faults: FaultPlan) {
    this.#world = world;
    this.#faults = faults;
  }

  /** Enters a request: what is known of its key now is not forgotten while it is inside. */
  enter(key: string): void {
    if (this.#isForgotten(key)) this.#rows.delete(key);
    this.#inHouse.set(key, (this.#inHouse.get(key) ?? 0) + 1);
  }

  leave(key: string): void {
    this.#inHouse.set(key, (this.#inHouse.get(key) ?? 1) - 1);
  }

  /** @returns undefined if the caller gets the key and acts; otherwise the answer */
  claim(key: string, fingerprint: string): Answer | undefined {
    const row = this.#rows.get(key);
    if (row === undefined || row.state === "bound") {
      if (row?.state === "bound" && row.fingerprint !== fingerprint) return conflict("other body");
      this.#rows.set(key, {
        fingerprint,
        startedMs: this.#world.nowMs,
        isMoney: true,
        state: "running",
        answer: undefined,
      });
      return undefined;
    }
    if (row.fingerprint !== fingerprint) return conflict("other body");
    if (row.state === "stored") return row.answer;
    if (row.state === "dead") return unconfirmed();
    const isOld = this.#world.nowMs - row.startedMs > UNCONFIRMED_MS;
    if (isOld && !this.#faults.kinds.has("conflict-for-ever")) return unconfirmed();
    return conflict("still running");
  }

  /** Keeps the result of a request that has ended. */
  settle(key: string, keep: "stored" | "dead" | "free" | "bound", answer?: Answer): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    if (keep === "free") this.#rows.delete(key);
    else row.state = keep;
    row.answer = answer;
  }

  #isForgotten(key: string): boolean {
    const row = this.#rows.get(key);
    const { kinds } = this.#faults;
    const isEarly = kinds.has("forgets-keys-early");
    if (row === undefined || (!isEarly && !kinds.has("forgets-keys"))) return false;
    if (row.state === "running" || (this.#inHouse.get(key) ?? 0) > 0) return false;
    const forMs = isEarly ? REMEMBERED_MS / 15 : REMEMBERED_MS;
    return this.#world.nowMs - row.startedMs > forMs;
  }
}

function conflict(why: string): Answer {
  return { status: 409, body: refusal("idempotency_conflict", why) };
}

function unconfirmed(): Answer {
  return { status: 409, body: refusal("payment_unconfirmed", "it may have taken effect") };
}
