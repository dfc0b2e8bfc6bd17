import { createHmac, randomBytes } from "node:crypto";
import { DAY_MS } from "../contracts/durations.ts";
import type { NoteRefusal } from "../decisions/deciding.ts";
import { isPowerOfTen } from "../domain/powers-of-ten.ts";
import type { Principal } from "./principal.ts";

/** Something that has come again and is worth recording once more. */
export interface Repeat {
  readonly key: string;
  /** How often it has come on this day, this time included. */
  readonly times: number;
}

/**
 * Limits the entries that several kinds share on a UTC day, so that many kinds can't fill the trail
 * either.
 */
class Allowance {
  readonly #most: number;
  #left = 0;
  #day = -1;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns false if the day's entries are used up */
  take(nowMs: number): boolean {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) this.#left = this.#most;
    this.#day = day;
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * Decides which of an unlimited number of occurrences are recorded: the 1st, 10th, 100th … of a UTC
 * day. Only the first keys of a day are counted separately, the rest together. The first occurrence
 * of a day is always recorded, further ones as long as the allowance lasts.
 */
export class Repeats {
  readonly #most: number;
  readonly #allowance: Allowance;
  readonly #times = new Map<string, number>();
  #day = -1;

  /** @param most keys of a day that are counted separately */
  constructor(
    most = Number.POSITIVE_INFINITY,
    allowance = new Allowance(Number.POSITIVE_INFINITY),
  ) {
    this.#most = most;
    this.#allowance = allowance;
  }

  /** @returns undefined if the occurrence isn't worth another entry */
  note(key: string, nowMs: number): Repeat | undefined {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#times.clear();
    }
    const isOwn = this.#times.has(key) || this.#times.size < this.#most;
    const known = isOwn ? key : "others";
    const times = (this.#times.get(known) ?? 0) + 1;
    this.#times.set(known, times);
    if (!isPowerOfTen(times)) return undefined;
    const isFirst = this.#times.size === 1 && times === 1;
    return isFirst || this.#allowance.take(nowMs) ? { key: known, times } : undefined;
  }
}

/**
 * Keys of one kind that are counted separately on a day: 10,000 refusals add fewer than 100 entries
 * to the trail.
 */
const UNKNOWN_CALLERS_MOST = 6;
/** The same limit for one known token. */
const KNOWN_MOST = 8;
/**
 * Entries of a day for strangers, and as many for known tokens: neither group can hide the other.
 */
const ENTRIES_MOST = 40;

/** What this process has refused today. */
export class RefusedToday {
  /** Tokens created here that have ended. */
  readonly ended: Repeats;
  readonly unknown: Repeats;
  /** Webhooks, by business and reason. */
  readonly webhooks: Repeats;
  readonly #known = new Map<string, Repeats>();
  readonly #ofKnown = new Allowance(ENTRIES_MOST);
  readonly #key = randomBytes(32);

  constructor() {
    const ofUnknownCallers = new Allowance(ENTRIES_MOST);
    this.ended = new Repeats(UNKNOWN_CALLERS_MOST, ofUnknownCallers);
    this.unknown = new Repeats(UNKNOWN_CALLERS_MOST, ofUnknownCallers);
    this.webhooks = new Repeats(UNKNOWN_CALLERS_MOST, ofUnknownCallers);
  }

  /**
   * Counts what one known token may not do, including decisions that don't count. No token can hide
   * another's refusals.
   */
  of(tokenId: string): Repeats {
    const repeats = this.#known.get(tokenId) ?? new Repeats(KNOWN_MOST, this.#ofKnown);
    this.#known.set(tokenId, repeats);
    return repeats;
  }

  /**
   * Returns a name for an unknown token, by which to recognize it while this process lives. With a
   * plain hash, a reader of the trail could try out guesses at what was sent by mistake, such as a
   * password.
   */
  nameOf(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("hex").slice(0, 12);
  }
}

/** Returns the function that decides whether a refused decision of a token on a run is recorded. */
export function noteRefusalOf(
  { refused, nowMs }: { readonly refused: RefusedToday; readonly nowMs: () => number },
  { tokenId }: Principal,
  runId: string,
): NoteRefusal {
  return (code) => {
    const repeat = refused.of(tokenId).note(`${runId} ${code}`, nowMs());
    return repeat && { times: repeat.times };
  };
}
