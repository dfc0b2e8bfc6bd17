import { setTimeout as sleep } from "node:timers/promises";

/** Why a reading was cut: its code tells whether the service is slow or shows what can't be. */
export interface WhyCut {
  readonly code: "unexpected_answer" | "no_answer";
  readonly message: string;
}

/** What a pass over the pages of a list has shown so far. */
interface Progress {
  readonly itemCount: number;
  readonly pagesInVain: number;
  /** True if the list says that it has more, and its next page shows nothing new. */
  readonly stuck: boolean;
  readonly done: boolean;
  readonly counts: { readonly first: number; readonly last: number } | undefined;
}

/**
 * Pages in a row that show nothing new. Records that are added in front push known ones to a later
 * page, but not two thousand between two pages.
 */
const PAGES_IN_VAIN_MAX = 20;

/** A list may get this much longer while it is read. */
const GROWS_TIMES = 2;
const GROWS_BY = 1_000;

/** The most items of a list that doesn't say how many it has: nothing shows that it has an end. */
const UNCOUNTED_MAX = 200_000;

/**
 * How long reading a list may take; a plan reads three. A million records take eight minutes at 20
 * requests a second.
 */
const READING_MAX_MS = 60 * 60_000;

/**
 * After this time and this many pages it can be said how long the reading is going to take; sooner
 * only if it would take as many times longer.
 */
const FORESEEN_AFTER_MS = 10_000;
const FORESEEN_AFTER_PAGES = 50;

/**
 * Bounds of one reading of a list, over all its passes. They are about progress, not about size: a
 * long list is read as long as each page brings it nearer to its end.
 *
 * A reading that is cut has shown a part of the list at best. It ends with an error, so that nobody
 * takes that part for the whole.
 */
export class ReadingBounds {
  readonly #itemsMax: number;
  readonly #now: () => number;
  readonly #begunMs: number;
  #passMs = 0;
  #passPages = 0;
  #hasGrown = false;
  #passIsOver = false;

  /** @param now a monotonic clock, in milliseconds */
  constructor(itemsMax: number, now: () => number = () => performance.now()) {
    this.#itemsMax = itemsMax;
    this.#now = now;
    this.#begunMs = now();
  }

  beginPass(): void {
    this.#passMs = this.#now();
    this.#passPages = 0;
    this.#passIsOver = false;
  }

  /**
   * True once the list has grown so much in this pass that its end can't be waited for; it is then
   * read again, once.
   */
  get passIsOver(): boolean {
    return this.#passIsOver;
  }

  /** Judges the pass after another page; undefined if the reading may go on. */
  take(progress: Progress): WhyCut | undefined {
    this.#passPages += 1;
    const { itemCount, counts } = progress;
    if (progress.stuck) {
      return cannotBe("the list says that it has more, and its next page shows nothing new");
    }
    const itemsMax =
      counts === undefined ? Math.min(UNCOUNTED_MAX, this.#itemsMax) : this.#itemsMax;
    if (itemCount > itemsMax) return tooMany(itemsMax);
    if (progress.done) return undefined;
    if (progress.pagesInVain >= PAGES_IN_VAIN_MAX) {
      return cannotBe(
        `the list says that it has more, and ${PAGES_IN_VAIN_MAX} pages in a row show nothing new`,
      );
    }
    if (counts !== undefined && itemCount > counts.first * GROWS_TIMES + GROWS_BY) {
      if (this.#hasGrown) {
        return cannotBe(
          `the list gets longer as fast as it is read: it said ${counts.first} items at first and ${counts.last} after ${itemCount} were read`,
        );
      }
      this.#hasGrown = true;
      this.#passIsOver = true;
      return undefined;
    }
    return this.#tooSlow(progress);
  }

  #tooSlow({ itemCount, counts }: Progress): WhyCut | undefined {
    const passMs = this.#now() - this.#passMs;
    const isForeseen = counts !== undefined && this.#passPages >= FORESEEN_AFTER_PAGES;
    const left = isForeseen ? counts.last - itemCount : 0;
    const certainty = Math.min(1, passMs / FORESEEN_AFTER_MS);
    const leftMs = left * (passMs / Math.max(1, itemCount)) * certainty;
    if (this.#passMs - this.#begunMs + passMs + leftMs <= READING_MAX_MS) return undefined;
    const ofHowMany = counts === undefined ? "" : ` of ${counts.last}`;
    const message = `reading the list would take longer than an hour: ${itemCount}${ofHowMany} items came in ${Math.round(passMs / 1_000)} s`;
    return { code: "no_answer", message };
  }
}

export function tooMany(itemsMax: number): WhyCut {
  return cannotBe(`the list has more than ${itemsMax} items`);
}

function cannotBe(message: string): WhyCut {
  return { code: "unexpected_answer", message };
}

/** Shorter lists are read as fast as they come. */
const LONG_FROM_PAGES = 200;

/** How much of the process's time is left to other work for each part that is spent. */
const LEFT_TO_OTHERS = 4;
const PAUSE_MAX_MS = 1_000;

/** Pauses between the pages of a long list, so that reading it holds up nothing else. */
export class Courtesy {
  #since = performance.eventLoopUtilization();

  async pause(pages: number): Promise<void> {
    if (pages < LONG_FROM_PAGES) return;
    const { active } = performance.eventLoopUtilization(this.#since);
    await sleep(Math.min(PAUSE_MAX_MS, active * LEFT_TO_OTHERS));
    this.#since = performance.eventLoopUtilization();
  }
}
