import { PaymentsApiError } from "./errors.ts";
import { Courtesy, ReadingBounds, tooMany, type WhyCut } from "./reading-bounds.ts";
import type { ReadOptions } from "./requester.ts";

/** One page; `totalCount` is the number of matching records across all pages. */
export interface Page<T> {
  /** Each record once, even if the page shows it twice. */
  items: T[];
  /** How many items the page shows, if not each only once. */
  shown?: number | undefined;
  totalCount: number;
  /** True for a list without a count that can be one: `totalCount` is this page's. */
  uncounted?: boolean | undefined;
  /** What such a response says about further pages. */
  hasMore?: boolean | undefined;
}

/** Options of a read over several pages; all but `pageSize` apply to each request. */
export interface PagingOptions extends Pick<ReadOptions, "signal" | "timeoutMs" | "patienceMs"> {
  /** 1 to 100 (API specification, section 8); 100 unless given. */
  pageSize?: number | undefined;
  /** A list with more items than this is not read; the resource knows how many are usual. */
  itemsMax?: number | undefined;
  /** True: a list that shows fewer records than it says, time after time, is not accepted. */
  isStrict?: boolean | undefined;
}

/** Reads one page of a list whose filters are fixed. */
export type ReadPage<T> = (page: number, pageSize: number) => Promise<Page<T>>;

interface Listed {
  id: string;
}

const maxPasses = 5;

/**
 * The most items of a list that is streamed. Their ids are kept, and a plan keeps facts of each: for
 * a list of this length a worker has room once.
 */
const STREAMED_MAX = 1_500_000;

/** The most items of a list that is kept whole. */
const KEPT_MAX = 200_000;

/** The most items that the service puts on one page (API specification, section 8). */
export const PAGE_SIZE_MAX = 100;

/** Pages of a long list that are read at once. */
const pagesInFlight = 8;

/** Lists with fewer pages are read one page after the other. */
const longFromPages = 4;

/**
 * Yields the list page by page, each id once, although the list changes meanwhile. Added records
 * push others to a later page, where they are left out. Records that disappear pull others to a
 * page already read, so the list is then read again for what was missed. Holds only ids in memory.
 *
 * Yields everything that was in the list all the time. Records added meanwhile may be missing. A
 * count says whether pages are missing; if it is absurd, or the list shows the same records twice
 * and fewer than it says, only the pages count.
 *
 * @throws {PaymentsApiError} `inconsistent_list` if records kept disappearing in every pass, or the
 * code of a bound that cut the reading (`ReadingBounds`)
 */
export async function* iteratePages<T extends Listed>(
  path: string,
  readOne: ReadPage<T>,
  { pageSize = PAGE_SIZE_MAX, itemsMax = STREAMED_MAX, isStrict = false }: PagingOptions = {},
): AsyncGenerator<T[], void, undefined> {
  const yielded = new Set<string>();
  const bounds = new ReadingBounds(itemsMax);
  const courtesy = new Courtesy();
  const readPage = withoutAbsurdCounts(path, readOne, { pageSize, itemsMax });
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const progress = new PassProgress();
    const before = yielded.size;
    bounds.beginPass();
    let wide = false;
    for (let page = 1; !progress.done; page += wide ? pagesInFlight : 1) {
      await courtesy.pause(page);
      // Only the first pass reads several pages at once: once it shows a change, order matters.
      wide = pass === 1 && page > 1 && progress.pages >= longFromPages;
      for (const answer of await readAtOnce(
        readPage,
        page,
        pageSize,
        wide ? progress.pages : page,
      )) {
        progress.add(answer);
        const cut = bounds.take(progress);
        if (cut !== undefined) throw cutOff(path, cut);
        const fresh = answer.items.filter(({ id }) => !yielded.has(id));
        for (const { id } of fresh) yielded.add(id);
        if (fresh.length > 0) yield unique(fresh);
        if (bounds.passIsOver) break;
      }
      if (bounds.passIsOver) break;
    }
    if (bounds.passIsOver) continue;
    if (wide ? progress.even : !progress.maySkip) return;
    const isSame = pass > 1 && yielded.size === before && progress.itemCount === before;
    if (isSame && progress.standsStill && !isStrict) return;
  }
  throw inconsistent(path);
}

/**
 * Reads pages of a list. If it says that it has more records than it may have, and the page on
 * which they would have to be is empty, its count says nothing.
 */
function withoutAbsurdCounts<T>(
  path: string,
  readPage: ReadPage<T>,
  { pageSize, itemsMax }: { readonly pageSize: number; readonly itemsMax: number },
): ReadPage<T> {
  const beyond = Math.floor(itemsMax / pageSize) + 1;
  let isAbsurd: Promise<boolean> | undefined;
  return async (page, size) => {
    const answer = await readPage(page, size);
    if (answer.uncounted === true || answer.totalCount <= itemsMax) return answer;
    isAbsurd ??= readPage(beyond, size).then(({ items }) => items.length === 0);
    if (!(await isAbsurd)) throw cutOff(path, tooMany(itemsMax));
    return { ...answer, totalCount: answer.items.length, uncounted: true };
  };
}

/** Reads one page, or up to eight at once if the list is known to have that many. */
function readAtOnce<T>(
  readPage: ReadPage<T>,
  first: number,
  pageSize: number,
  last: number,
): Promise<Page<T>[]> {
  const length = Math.max(1, Math.min(pagesInFlight, last - first + 1));
  return Promise.all(Array.from({ length }, (_, index) => readPage(first + index, pageSize)));
}

/** Does what `iteratePages` does, record by record. */
export async function* iterateItems<T extends Listed>(
  pages: AsyncIterable<T[]>,
): AsyncGenerator<T, void, undefined> {
  for await (const page of pages) yield* page;
}

/**
 * Reads the whole list as it was at one moment. Repeats passes until the count stayed the same from
 * first to last page, as many different ids were read as it says, and, with more than one page, the
 * first page reads the same again. Without a count, two passes must show the same ids. Meant for
 * lookups about money.
 *
 * @throws {PaymentsApiError} `inconsistent_list` if no pass was consistent, or the code of a bound
 * that cut the reading (`ReadingBounds`)
 */
export async function readConsistently<T extends Listed>(
  path: string,
  readOne: ReadPage<T>,
  { pageSize = PAGE_SIZE_MAX, itemsMax = KEPT_MAX }: PagingOptions = {},
): Promise<T[]> {
  const bounds = new ReadingBounds(itemsMax);
  const readPage = withoutAbsurdCounts(path, readOne, { pageSize, itemsMax });
  let before: string | undefined;
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const progress = new PassProgress();
    bounds.beginPass();
    const items = new Map<string, T>();
    const firstIds: string[] = [];
    let pages = 0;
    while (!progress.done && !bounds.passIsOver) {
      pages += 1;
      const answer = await readPage(pages, pageSize);
      progress.add(answer);
      const cut = bounds.take(progress);
      if (cut !== undefined) throw cutOff(path, cut);
      for (const item of answer.items) items.set(item.id, item);
      if (pages === 1) firstIds.push(...answer.items.map(({ id }) => id));
    }
    if (!progress.done || !progress.even) continue;
    if (!progress.hasCounts) {
      const ids = JSON.stringify([...items.keys()]);
      if (ids === before) return [...items.values()];
      before = ids;
      continue;
    }
    if (pages === 1 || sameFirstPage(await readPage(1, pageSize), firstIds, items.size)) {
      return [...items.values()];
    }
  }
  throw inconsistent(path);
}

/** What one pass over the pages has shown so far. */
class PassProgress {
  readonly #ids = new Set<string>();
  #firstCount: number | undefined;
  #lastCount = 0;
  #changed = false;
  #shrank = false;
  #ended = false;
  #read = 0;
  #twins = 0;
  #endedEmpty = false;
  #firstLength = 0;
  #uncounted = false;
  #stuck = false;
  #pagesInVain = 0;

  add(page: Page<Listed>): void {
    const before = this.#ids.size;
    if (page.uncounted === true) this.#addUncounted(page);
    else this.#addCounted(page);
    this.#pagesInVain = this.#ids.size > before ? 0 : this.#pagesInVain + 1;
  }

  #addCounted(page: Page<Listed>): void {
    if (this.#firstCount === undefined) {
      this.#firstCount = page.totalCount;
      this.#firstLength = page.items.length;
    } else if (page.totalCount !== this.#lastCount) this.#changed = true;
    if (page.totalCount < this.#lastCount) this.#shrank = true;
    this.#lastCount = page.totalCount;
    const { shown = page.items.length } = page;
    this.#read += shown;
    this.#twins += shown - page.items.length;
    for (const { id } of page.items) this.#ids.add(id);
    // Pages may be shorter than requested, so only an empty one or a full count ends the list.
    this.#endedEmpty = shown === 0;
    // A page that shows more than an unchanged count has room for is not the last one either.
    const isOver = this.#read > page.totalCount && !this.#changed;
    this.#ended = this.#endedEmpty || (this.#read >= page.totalCount && !isOver);
  }

  /** Without a count, a list ends with a page that has nothing new or says that it is the last. */
  #addUncounted({ items, hasMore }: Page<Listed>): void {
    this.#uncounted = true;
    const before = this.#ids.size;
    for (const { id } of items) this.#ids.add(id);
    const isNew = this.#ids.size > before;
    this.#ended = !isNew || hasMore === false;
    this.#stuck = !isNew && hasMore === true;
  }

  /** True if the list has more records, but the next page number returns nothing new. */
  get stuck(): boolean {
    return this.#stuck;
  }

  get done(): boolean {
    return this.#ended;
  }

  /** Pages in a row that have shown nothing new. */
  get pagesInVain(): number {
    return this.#pagesInVain;
  }

  /** The number of different records so far. */
  get itemCount(): number {
    return this.#ids.size;
  }

  /** The first and the last count of the pass; undefined for a list without a count. */
  get counts(): { readonly first: number; readonly last: number } | undefined {
    const first = this.#firstCount;
    return first === undefined ? undefined : { first, last: this.#lastCount };
  }

  /** The number of pages, by the length of the first; 0 before it was read. */
  get pages(): number {
    return Math.ceil((this.#firstCount ?? 0) / Math.max(1, this.#firstLength));
  }

  /** True if the count never changed and equals the number of different ids. */
  get even(): boolean {
    if (this.#uncounted) return true;
    const count = this.#ids.size + this.#twins;
    return !this.#changed && count === this.#lastCount && this.#read === this.#lastCount;
  }

  /** True if records disappeared, or fewer were read than there were at the beginning. */
  get maySkip(): boolean {
    return this.#shrank || this.#ids.size + this.#twins < (this.#firstCount ?? 0);
  }

  /** True if the pages have ended before the count, which never changed. */
  get standsStill(): boolean {
    return this.#endedEmpty && !this.#changed;
  }

  get hasCounts(): boolean {
    return !this.#uncounted;
  }
}

function sameFirstPage(page: Page<Listed>, ids: readonly string[], count: number): boolean {
  return (
    (page.uncounted === true || page.totalCount === count) &&
    page.items.length === ids.length &&
    page.items.every(({ id }, index) => id === ids[index])
  );
}

function unique<T extends Listed>(items: T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

function inconsistent(path: string): PaymentsApiError {
  return new PaymentsApiError({
    code: "inconsistent_list",
    status: undefined,
    outcome: "not_applied",
    method: "GET",
    path,
    message: `the list kept changing while it was read (${maxPasses} times); try again later`,
  });
}

function cutOff(path: string, { code, message }: WhyCut): PaymentsApiError {
  // What was read is as the service meant it; that there is more of it is what can't be.
  const status = code === "unexpected_answer" ? 200 : undefined;
  return new PaymentsApiError({
    code,
    status,
    outcome: "not_applied",
    method: "GET",
    path,
    message,
  });
}
