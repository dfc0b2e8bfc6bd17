import { whyNoPayment } from "../../domain/funding-source.ts";
import type { PaymentsClient } from "../../payments-api/index.ts";

/** Who looks at a screen waits no longer; what is not there by then is left out. */
const PATIENCE_MS = 3_000;

/**
 * Why funding sources can't pay now: a plan says only how they stood when it was made.
 *
 * @returns nothing if the service doesn't answer in time
 */
export async function whySourcesCantPay(
  client: PaymentsClient,
  sourceIds: readonly string[],
): Promise<readonly string[]> {
  if (sourceIds.length === 0) return [];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const sources = await client.fundingSources.list({ signal });
    const byId = new Map(sources.map((source) => [source.id, source]));
    return sourceIds.flatMap((id) => whyNoPayment(id, byId.get(id)) ?? []);
  } catch {
    return [];
  }
}
