import type { Page, PagingOptions } from "../pagination.ts";
import { type Requester, segment, type WriteOptions } from "../requester.ts";
import { type Delivery, deliveryPageSchema, deliverySchema } from "../schemas/delivery.ts";
import type { CallOptions } from "../transport.ts";
import { PagedReads, type PageNumbers } from "./paged-reads.ts";

/** The deliveries to a webhook endpoint, newest first (API specification, section 6). */
export class Deliveries {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** Reads one page. */
  list(
    webhookEndpointId: string,
    query?: PageNumbers,
    options?: CallOptions,
  ): Promise<Page<Delivery>> {
    return this.#of(webhookEndpointId).list(query, options);
  }

  /** Streams the deliveries page by page, each once; those that arrive meanwhile may be missing. */
  iteratePages(
    webhookEndpointId: string,
    options?: PagingOptions,
  ): AsyncGenerator<Delivery[], void, undefined> {
    return this.#of(webhookEndpointId).iteratePages({}, options);
  }

  /** Makes the service deliver the event again, and returns the new delivery. */
  redeliver(
    webhookEndpointId: string,
    deliveryId: string,
    options?: WriteOptions,
  ): Promise<Delivery> {
    const path = `${pathOf(webhookEndpointId)}/${segment(deliveryId)}/redeliver`;
    return this.#requester.write({ ...options, method: "POST", path }, deliverySchema);
  }

  #of(webhookEndpointId: string): PagedReads<Delivery, Record<never, never>> {
    return new PagedReads(this.#requester, pathOf(webhookEndpointId), deliveryPageSchema);
  }
}

function pathOf(webhookEndpointId: string): string {
  return `/v1/webhook-endpoints/${segment(webhookEndpointId)}/deliveries`;
}
