import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** What may go wrong at the service and on the way to it; each seed first chooses which. */
export const SERVICE_FAULTS = [
  /** Answers take seconds, up to minutes. */
  "slow",
  /** The connection is cut; the request is carried out later all the same. */
  "cut-off",
  /** Requests wait before their key is claimed. */
  "queued",
  /** Bytes that have left arrive up to a minute later. */
  "late-bytes",
  /** Requests arrive, and nothing ever comes of them. */
  "lost",
  /** A key whose request died is in conflict for ever. */
  "conflict-for-ever",
  /** Keys are forgotten as soon as the envelope allows. */
  "forgets-keys",
  /** A state refusal binds its key to the body. */
  "refusals-bind",
  /** 4xx answers are not stored under their key. */
  "refusals-unstored",
  /** A money write answers 5xx, with all, a part or nothing of its effect. */
  "server-errors",
  /** 409 with a code that nobody knows. */
  "unknown-409",
  /** Pages hold two items, whatever was asked for. */
  "small-pages",
  /** Payments show up to a minute late. */
  "shows-late",
  /** 429, with and without Retry-After. */
  "rate-limit",
  /** The token is refused for a while. */
  "unauthorized",
  /** One bill, its payments or its vendor answers 5xx for ever. */
  "poison",
  /** Reads fail now and then. */
  "read-errors",
  /** Webhooks that never come, come twice, or come late and out of order. */
  "webhooks-lost",
  "webhooks-doubled",
  "webhooks-late",
  /** State refusals of a first request. */
  "state-refusals",
] as const;

/** More of them; each is drawn from a stream of its own, so that it changes no other seed. */
export const MORE_FAULTS = [
  /** An effect is there for minutes before its answer is kept under its key. */
  "recorded-late",
  /** Lists and single payments show a payment as it stood up to a minute ago. */
  "stale-lists",
  /** A page lacks one of its items, which the count of all still counts. */
  "short-lists",
] as const;

/** Faults outside the envelope of the ledger (decision 20), in a few seeds only. */
export const BREAKS = [
  /** Bytes arrive hours after they left. */
  "bytes-hours-late",
  /** A request is carried out long after the window in which that may be. */
  "carried-out-late",
  /** Payments show only after the look that is taken for the last word. */
  "shows-after-the-last-word",
  /** Keys are forgotten after a minute. */
  "forgets-keys-early",
] as const;
export type Break = (typeof BREAKS)[number];

/** What has to go wrong besides before a break can do harm. */
export const WITH_BREAK: Readonly<Record<Break, readonly ServiceFault[]>> = {
  "bytes-hours-late": ["forgets-keys"],
  "carried-out-late": ["conflict-for-ever"],
  "shows-after-the-last-word": ["server-errors"],
  "forgets-keys-early": ["cut-off", "shows-after-the-last-word"],
};
export type ServiceFault = (typeof SERVICE_FAULTS | typeof MORE_FAULTS)[number] | Break;

const EPISODE_MS = 90_000;

/** The kinds of faults of this seed, and when they are over. */
export class FaultPlan {
  readonly kinds: ReadonlySet<ServiceFault>;
  /** From then on everything works. */
  healsAtMs: number;
  /** Faults by number that are left out, to shorten a trace. */
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

  /** True where a fault of this kind strikes now; each is numbered, and may be left out. */
  strikes(kind: ServiceFault, probability: number): boolean {
    if (!this.kinds.has(kind)) return false;
    const strikes = this.stream(kind).chance(probability);
    if (!strikes || this.#world.nowMs >= this.healsAtMs || !this.#isOn(kind)) return false;
    return this.count();
  }

  /** Faults come in episodes: what is always slow shows other things than what gets slow. */
  #isOn(kind: ServiceFault): boolean {
    // What breaks the envelope needs several things together.
    if (BREAKS.some((each) => this.kinds.has(each))) return true;
    const { nowMs, startedMs } = this.#world;
    const episode = Math.floor((nowMs - startedMs) / EPISODE_MS);
    return this.#world.stream(`episode ${kind} ${episode}`).chance(0.6);
  }

  /** Counts a fault. @returns false where it is left out */
  count(): boolean {
    this.#made += 1;
    this.struckMs = this.#world.nowMs;
    return !this.#left.has(this.#made);
  }
}
