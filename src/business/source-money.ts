import {
  type FundingSource,
  PaymentsApiError,
  type PaymentsClient,
} from "../payments-api/index.ts";

/**
 * What a funding source has for payments: null where it doesn't tell what it holds; 0 while it
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

/** Undefined where the token may pay but not read this, or the business has none of it. */
export async function unlessRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof PaymentsApiError && isRefusal(error)) return undefined;
    throw error;
  }
}

/** The specification leaves the status of most codes open, so the code decides where there is one. */
function isRefusal({ code, status }: PaymentsApiError): boolean {
  if (code === "feature_unavailable" || code === "setup_required") return true;
  return status === 403 || status === 404 || status === 409;
}
