import type { z } from "zod";
import {
  iterateItems,
  iteratePages,
  type Page,
  type PagingOptions,
  readConsistently,
  type ReadPage,
} from "../pagination.ts";
import type { Query, ReadOptions, Requester } from "../requester.ts";

/** One page of a list: `page` from 1, `pageSize` from 1 to 100 (API specification, section 8). */
export type PageNumbers = { page?: number | undefined; pageSize?: number | undefined };

/** The reads of a paginated list; `Filters` are the query parameters that it knows. */
export class PagedReads<Item extends { id: string }, Filters extends Query> {
  readonly #requester: Requester;
  readonly #path: string;
  readonly #schema: z.ZodType<Page<Item>>;

  constructor(requester: Requester, path: string, schema: z.ZodType<Page<Item>>) {
    this.#requester = requester;
    this.#path = path;
    this.#schema = schema;
  }

  /** Reads one page. */
  list(query?: Filters & PageNumbers, options?: ReadOptions): Promise<Page<Item>> {
    return this.#requester.read(this.#path, this.#schema, { ...options, query: { ...query } });
  }

  /** Streams the records one by one; see `iteratePages`. */
  iterate(filters?: Filters, options?: PagingOptions): AsyncGenerator<Item, void, undefined> {
    return iterateItems(this.iteratePages(filters, options));
  }

  /**
   * Streams the list page by page, each record once. A record that is there all the time is never
   * left out, although others come and go meanwhile; new ones may be.
   *
   * @throws {PaymentsApiError} `inconsistent_list` if records kept disappearing meanwhile; another
   * code if a bound cut the reading, which then proves nothing
   */
  iteratePages(
    filters?: Filters,
    options: PagingOptions = {},
  ): AsyncGenerator<Item[], void, undefined> {
    return iteratePages(this.#path, this.#reader(filters, options), options);
  }

  /**
   * Reads the whole list as it was at one moment, until count and ids agree. For lookups about
   * money, without a status or time filter: such a filter would miss a payment whose status is just
   * changing.
   *
   * @throws {PaymentsApiError} `inconsistent_list` if the list never stayed the same; another code
   * if a bound cut the reading, which then proves nothing
   */
  listAll(filters?: Filters, options: PagingOptions = {}): Promise<Item[]> {
    return readConsistently(this.#path, this.#reader(filters, options), options);
  }

  #reader(filters: Filters | undefined, options: PagingOptions): ReadPage<Item> {
    const { pageSize: _, itemsMax: _max, isStrict: _strict, ...call } = options;
    return (page, pageSize) =>
      this.#requester.read(this.#path, this.#schema, {
        ...call,
        query: { ...filters, page, pageSize },
      });
  }
}
