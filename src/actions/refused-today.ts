import { createHmac, randomBytes } from "node:crypto";
import type { NoteRefusal } from "../decisions/deciding.ts";
import { isPowerOfTen } from "../domain/powers-of-ten.ts";
import type { Principal } from "./principal.ts";

const DAY_MS = 86_400_000;

/** Something that has come again, and is worth writing down once more. */
export interface Repeat {
  readonly key: string;
  /** How often it has come on this day, this time included. */
  readonly times: number;
}

/** How many entries of a UTC day several kinds may share, so that many of them fill no trail either. */
class Allowance {
  readonly #most: number;
  #left = 0;
  #day = -1;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns false if the day's are used up */
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
 * Says when what may come without end is written down: at the 1st, 10th, 100th … time of a UTC day.
 * Of many different keys only the first are told apart, the rest is counted together. The first of
 * a day is always written down, the others as far as the allowance goes.
 */
export class Repeats {
  readonly #most: number;
  readonly #allowance: Allowance;
  readonly #times = new Map<string, number>();
  #day = -1;

  /** @param most keys of a day that are told apart */
  constructor(
    most = Number.POSITIVE_INFINITY,
    allowance = new Allowance(Number.POSITIVE_INFINITY),
  ) {
    this.#most = most;
    this.#allowance = allowance;
  }

  /** @returns undefined where it is not worth another entry */
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

/** What is told apart of one kind on a day: 10,000 refusals add less than 100 entries to the trail. */
const STRANGERS_MOST = 6;
/** And of one known token. */
const KNOWN_MOST = 8;
/** Entries of a day by strangers, and by known tokens: neither hides the others. */
const ENTRIES_MOST = 40;

/** What this process has refused today. */
export class RefusedToday {
  /** Tokens made here that have ended. */
  readonly ended: Repeats;
  readonly unknown: Repeats;
  /** Webhooks, by business and why. */
  readonly webhooks: Repeats;
  readonly #known = new Map<string, Repeats>();
  readonly #ofKnown = new Allowance(ENTRIES_MOST);
  readonly #key = randomBytes(32);

  constructor() {
    const ofStrangers = new Allowance(ENTRIES_MOST);
    this.ended = new Repeats(STRANGERS_MOST, ofStrangers);
    this.unknown = new Repeats(STRANGERS_MOST, ofStrangers);
    this.webhooks = new Repeats(STRANGERS_MOST, ofStrangers);
  }

  /** What one known token may not do, decisions that don't count too: nobody hides another's. */
  of(tokenId: string): Repeats {
    const repeats = this.#known.get(tokenId) ?? new Repeats(KNOWN_MOST, this.#ofKnown);
    this.#known.set(tokenId, repeats);
    return repeats;
  }

  /**
   * A name for an unknown token, by which to know it again while this process lives. A plain hash
   * would let a reader of the trail try out what somebody has sent by mistake, such as a password.
   */
  nameOf(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("hex").slice(0, 12);
  }
}

/** How often refused decisions of a token on a run are written down. */
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
