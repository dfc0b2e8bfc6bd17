import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** What may go wrong at the service and on the way to it; each seed first chooses its kinds. */
export const SERVICE_FAULTS = [
  /** Answers take seconds, up to minutes. */
  "slow",
  /** The connection is cut; the request is carried out later anyway. */
  "cut-off",
  /** Requests wait before their key is claimed. */
  "queued",
  /** Bytes that have left arrive up to a minute later. */
  "late-bytes",
  /** Requests arrive and never have an effect. */
  "lost",
  /** A key whose request died is in conflict forever. */
  "conflict-for-ever",
  /** Keys are forgotten as soon as the envelope allows. */
  "forgets-keys",
  /** A state refusal binds its key to the body. */
  "refusals-bind",
  /** 4xx answers are not stored under their key. */
  "refusals-unstored",
  /** A money write answers 5xx, with all, a part or nothing of its effect. */
  "server-errors",
  /** 409 with an unknown code. */
  "unknown-409",
  /** Pages hold two items, whatever size was requested. */
  "small-pages",
  /** Payments show up to a minute late. */
  "shows-late",
  /** 429, with and without Retry-After. */
  "rate-limit",
  /** The token is refused for a while. */
  "unauthorized",
  /** One bill, its payments or its vendor answers 5xx forever. */
  "poison",
  /** Reads fail now and then. */
  "read-errors",
  /** Webhooks never come, come twice, or come late and out of order. */
  "webhooks-lost",
  "webhooks-doubled",
  "webhooks-late",
  /** A first request is refused because of the business's state. */
  "state-refusals",
] as const;

/** More kinds of faults; each has a stream of its own, so that it changes no other seed. */
export const MORE_FAULTS = [
  /** An effect exists for minutes before its answer is stored under its key. */
  "recorded-late",
  /** Lists and single payments show a payment as it was up to a minute ago. */
  "stale-lists",
  /** A page lacks one of its items, which the total count still includes. */
  "short-lists",
] as const;

/** Answers to reads and writes say what is not true, one or two fields at a time; in a few seeds only. */
export const LIES = "lies";

/** Faults outside the ledger's envelope (decision 20), in a few seeds only. */
export const BREAKS = [
  /** Bytes arrive hours after they left. */
  "bytes-hours-late",
  /** A request is carried out long after the window for that. */
  "carried-out-late",
  /** Payments show only after the conclusive look. */
  "shows-after-the-last-word",
  /** Keys are forgotten after a minute. */
  "forgets-keys-early",
] as const;
export type Break = (typeof BREAKS)[number];

/** What must go wrong in addition before a break can do harm. */
export const WITH_BREAK: Readonly<Record<Break, readonly ServiceFault[]>> = {
  "bytes-hours-late": ["forgets-keys"],
  "carried-out-late": ["conflict-for-ever"],
  "shows-after-the-last-word": ["server-errors"],
  "forgets-keys-early": ["cut-off", "shows-after-the-last-word"],
};
export type ServiceFault =
  | (typeof SERVICE_FAULTS | typeof MORE_FAULTS)[number]
  | typeof LIES
  | Break;

const EPISODE_MS = 90_000;

/** The kinds of faults of this seed, and when they end. */
export class FaultPlan {
  readonly kinds: ReadonlySet<ServiceFault>;
  /** The instant from which everything works. */
  healsAtMs: number;
  /** Numbers of faults that are left out, to shorten a trace. */
  readonly #left: ReadonlySet<number>;
  readonly #world: World;
  readonly #streams = new Map<string, Stream>();
  #made = 0;
  /** When the last fault struck. */
  struckMs = 0;

  constructor(
    world: World,
    plan: {
      readonly kinds: ReadonlySet<ServiceFault>;
      readonly healsAtMs: number;
      readonly left: ReadonlySet<number>;
    },
  ) {
    this.#world = world;
    this.kinds = plan.kinds;
    this.healsAtMs = plan.healsAtMs;
    this.#left = plan.left;
  }

  get made(): number {
    return this.#made;
  }

  stream(name: string): Stream {
    const known = this.#streams.get(name);
    if (known !== undefined) return known;
    const stream = this.#world.stream(`fault ${name}`);
    this.#streams.set(name, stream);
    return stream;
  }

  /** True if a fault of this kind strikes now; each is numbered and may be left out. */
  strikes(kind: ServiceFault, probability: number): boolean {
    if (!this.kinds.has(kind)) return false;
    const strikes = this.stream(kind).chance(probability);
    if (!strikes || this.#world.nowMs >= this.healsAtMs || !this.#isOn(kind)) return false;
    return this.count();
  }

  /**
   * Faults come in episodes: a constantly slow service shows other problems than one that gets
   * slow.
   */
  #isOn(kind: ServiceFault): boolean {
    // Breaking the envelope needs several faults together.
    if (BREAKS.some((each) => this.kinds.has(each))) return true;
    const { nowMs, startedMs } = this.#world;
    const episode = Math.floor((nowMs - startedMs) / EPISODE_MS);
    return this.#world.stream(`episode ${kind} ${episode}`).chance(0.6);
  }

  /** Counts a fault. @returns false if it is left out */
  count(): boolean {
    this.#made += 1;
    this.struckMs = this.#world.nowMs;
    return !this.#left.has(this.#made);
  }
}
