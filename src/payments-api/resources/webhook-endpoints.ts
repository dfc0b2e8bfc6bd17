import { type Requester, segment, type WriteOptions } from "../requester.ts";
import {
  type WebhookEndpoint,
  webhookEndpointListSchema,
  webhookEndpointSchema,
} from "../schemas/webhook-endpoint.ts";
import type { CallOptions } from "../transport.ts";

interface NewWebhookEndpoint {
  url: string;
  /** Event types, or `["*"]` for all. */
  events: string[];
  description?: string;
}

interface WebhookEndpointChanges extends Partial<NewWebhookEndpoint> {
  /** Resumes a paused endpoint. */
  status?: "active";
}

/**
 * The endpoints to which the service pushes events (API specification, sections 4 and 6, which do
 * not show the bodies).
 */
export class WebhookEndpoints {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  list(options?: CallOptions): Promise<WebhookEndpoint[]> {
    return this.#requester.read("/v1/webhook-endpoints", webhookEndpointListSchema, options);
  }

  /**
   * Creates an endpoint. Takes no key: after an unknown outcome, list the endpoints. Only this
   * response shows the secret.
   */
  create(endpoint: NewWebhookEndpoint, options?: CallOptions): Promise<WebhookEndpoint> {
    const path = "/v1/webhook-endpoints";
    const write = { ...options, method: "POST" as const, path, body: endpoint };
    return this.#requester.write(write, webhookEndpointSchema);
  }

  update(
    webhookEndpointId: string,
    changes: WebhookEndpointChanges,
    options?: WriteOptions,
  ): Promise<WebhookEndpoint> {
    const path = pathOf(webhookEndpointId);
    const write = { ...options, method: "PATCH" as const, path, body: changes };
    return this.#requester.write(write, webhookEndpointSchema);
  }

  /**
   * Rotates the secret. Takes no key. The old secret stops at once; only this response shows the
   * new one.
   */
  rotateSecret(webhookEndpointId: string, options?: CallOptions): Promise<WebhookEndpoint> {
    const path = `${pathOf(webhookEndpointId)}/rotate-secret`;
    return this.#requester.write({ ...options, method: "POST", path }, webhookEndpointSchema);
  }

  /** Deletes the endpoint, which stops receiving events; its delivery history is kept. */
  delete(webhookEndpointId: string, options?: WriteOptions): Promise<void> {
    const path = pathOf(webhookEndpointId);
    return this.#requester.writeWithoutAnswer({ ...options, method: "DELETE", path });
  }
}

function pathOf(webhookEndpointId: string): string {
  return `/v1/webhook-endpoints/${segment(webhookEndpointId)}`;
}
