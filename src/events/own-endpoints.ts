import type { PaymentsClient } from "../payments-api/index.ts";
import type { WebhookEndpoint } from "../payments-api/schemas/webhook-endpoint.ts";

/**
 * Reads the service's webhook endpoints that lead to this gateway.
 *
 * @param publicUrl address of the gateway as the service reaches it
 */
export async function ownEndpoints(
  client: Pick<PaymentsClient, "webhookEndpoints">,
  publicUrl: string,
  business: string,
): Promise<WebhookEndpoint[]> {
  const ours = comparable(webhookUrl(publicUrl, business));
  const endpoints = await client.webhookEndpoints.list();
  return endpoints.filter(({ url }) => typeof url === "string" && comparable(url) === ours);
}

/** Returns the address to which the service sends a business's webhooks. */
export function webhookUrl(publicUrl: string, business: string): string {
  return `${publicUrl}/webhooks/${encodeURIComponent(business)}`;
}

function comparable(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : parsed.href.replace(/\/+$/, "");
}
