import { PaymentsApiError } from "./errors.ts";
import type { ReadOptions } from "./requester.ts";

/** One page; `totalCount` is the number of matching records across all pages. */
export interface Page<T> {
  items: T[];
  totalCount: number;
  /** True for a list whose undocumented response has no count: `totalCount` is this page's. */
  uncounted?: boolean | undefined;
  /** What such a response says about further pages. */
  hasMore?: boolean | undefined;
}

/** Options of a read over several pages; all but `pageSize` apply to each request. */
export interface PagingOptions extends Pick<ReadOptions, "signal" | "timeoutMs" | "patienceMs"> {
  /** 1 to 100 (API specification, section 8); 100 unless given. */
  pageSize?: number | undefined;
}

/** Reads one page of a list whose filters are fixed. */
export type ReadPage<T> = (page: number, pageSize: number) => Promise<Page<T>>;

interface Listed {
  id: string;
}

const maxPasses = 5;

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
 * Yields everything that was in the list all the time. Records added meanwhile may be missing.
 *
 * @throws {PaymentsApiError} `inconsistent_list` if records kept disappearing in every pass
 */
export async function* iteratePages<T extends Listed>(
  path: string,
  readPage: ReadPage<T>,
  pageSize: number = PAGE_SIZE_MAX,
): AsyncGenerator<T[], void, undefined> {
  const yielded = new Set<string>();
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const progress = new PassProgress();
    let wide = false;
    for (let page = 1; !progress.done; page += wide ? pagesInFlight : 1) {
      // Only the first pass reads several pages at once: once it shows a change, order matters.
      wide = pass === 1 && page > 1 && progress.pages >= longFromPages;
      for (const answer of await readAtOnce(
        readPage,
        page,
        pageSize,
        wide ? progress.pages : page,
      )) {
        progress.add(answer);
        if (progress.stuck) throw unreadable(path);
        const fresh = answer.items.filter(({ id }) => !yielded.has(id));
        for (const { id } of fresh) yielded.add(id);
        if (fresh.length > 0) yield unique(fresh);
      }
    }
    if (wide ? progress.even : !progress.maySkip) return;
  }
  throw inconsistent(path);
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
 * first page reads the same again. Meant for lookups about money.
 *
 * @throws {PaymentsApiError} `inconsistent_list` if no pass was consistent
 */
export async function readConsistently<T extends Listed>(
  path: string,
  readPage: ReadPage<T>,
  pageSize: number = PAGE_SIZE_MAX,
): Promise<T[]> {
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const progress = new PassProgress();
    const items = new Map<string, T>();
    const firstIds: string[] = [];
    let pages = 0;
    while (!progress.done) {
      pages += 1;
      const answer = await readPage(pages, pageSize);
      progress.add(answer);
      if (progress.stuck) throw unreadable(path);
      for (const item of answer.items) items.set(item.id, item);
      if (pages === 1) firstIds.push(...answer.items.map(({ id }) => id));
    }
    if (!progress.even) continue;
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
  #firstLength = 0;
  #uncounted = false;
  #stuck = false;

  add(page: Page<Listed>): void {
    if (page.uncounted === true) return this.#addUncounted(page);
    if (this.#firstCount === undefined) {
      this.#firstCount = page.totalCount;
      this.#firstLength = page.items.length;
    } else if (page.totalCount !== this.#lastCount) this.#changed = true;
    if (page.totalCount < this.#lastCount) this.#shrank = true;
    this.#lastCount = page.totalCount;
    this.#read += page.items.length;
    for (const { id } of page.items) this.#ids.add(id);
    // Pages may be shorter than requested, so only an empty one or a full count ends the list.
    this.#ended = page.items.length === 0 || this.#read >= page.totalCount;
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

  /** The number of pages, by the length of the first; 0 before it was read. */
  get pages(): number {
    return Math.ceil((this.#firstCount ?? 0) / Math.max(1, this.#firstLength));
  }

  /** True if the count never changed and equals the number of different ids. */
  get even(): boolean {
    if (this.#uncounted) return true;
    return !this.#changed && this.#ids.size === this.#lastCount && this.#read === this.#lastCount;
  }

  /** True if records disappeared, or fewer were read than there were at the beginning. */
  get maySkip(): boolean {
    return this.#shrank || this.#ids.size < (this.#firstCount ?? 0);
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

function unreadable(path: string): PaymentsApiError {
  return new PaymentsApiError({
    code: "unexpected_answer",
    status: 200,
    outcome: "not_applied",
    method: "GET",
    path,
    message: "the list says that it has more, and its next page shows nothing new",
  });
}
