import {
  type FundingSource,
  PaymentsApiError,
  type PaymentsClient,
} from "../payments-api/index.ts";

/**
 * Reads what a funding source has for payments: null if it doesn't show what it holds; 0 while it
 * can't pay, or is not listed any more.
 */
export async function availableCents(
  client: PaymentsClient,
  source: FundingSource | undefined,
  options: { readonly signal?: AbortSignal } = {},
): Promise<number | null> {
  if (source?.canPay !== true) return 0;
  if (source.kind !== "balance") return null;
  if (source.availableCents !== null) return source.availableCents;
  return (await unlessRefused(client.balance.get(options)))?.availableCents ?? null;
}

/** Returns undefined if the token may pay but not read this, or if the business has none of it. */
export async function unlessRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PaymentsApiError && isRefusal(error)) return undefined;
    throw error;
  }
}

/**
 * True if the service refuses a read. The specification leaves the status of most codes open, so
 * the code decides if there is one.
 */
function isRefusal({ code, status }: PaymentsApiError): boolean {
  if (code === "feature_unavailable" || code === "setup_required") return true;
  return status === 403 || status === 404 || status === 409;
}
