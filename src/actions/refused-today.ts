import { createHmac, randomBytes } from "node:crypto";
import type { NoteRefusal } from "../decisions/deciding.ts";
import { isToldOf } from "../domain/rarely.ts";
import type { Principal } from "./principal.ts";

const DAY_MS = 86_400_000;

/** Something that has come again, and is worth writing down once more. */
export interface Repeat {
  readonly key: string;
  /** How often it has come on this day, this time included. */
  readonly times: number;
}

/**
 * Says when what may come without end is written down: at the 1st, 10th, 100th … time of a UTC day.
 * Of many different keys only the first are told apart, the rest is counted together.
 */
export class Repeats {
  readonly #most: number;
  readonly #times = new Map<string, number>();
  #day = -1;

  /** @param most keys of a day that are told apart */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
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
    return isToldOf(times) ? { key: known, times } : undefined;
  }
}

/** What is told apart of one kind on a day: 10,000 refusals add less than 100 entries to the trail. */
const STRANGERS_MOST = 6;
/** And of one known token. */
const KNOWN_MOST = 8;

/** What this process has refused today. */
export class RefusedToday {
  /** Tokens made here that have ended. */
  readonly ended = new Repeats(STRANGERS_MOST);
  readonly unknown = new Repeats(STRANGERS_MOST);
  /** Webhooks, by business and why. */
  readonly webhooks = new Repeats(STRANGERS_MOST);
  readonly #known = new Map<string, Repeats>();
  readonly #key = randomBytes(32);

  /** What one known token may not do, decisions that don't count too: nobody hides another's. */
  of(tokenId: string): Repeats {
    const repeats = this.#known.get(tokenId) ?? new Repeats(KNOWN_MOST);
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
