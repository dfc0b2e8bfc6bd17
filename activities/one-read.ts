import { type PaymentsClient, PaymentsApiError } from "../src/payments-api/index.ts";

const OF_ALL: readonly (number | undefined)[] = [401, 403, 429];

/** True where a read failed in a way that need not say anything of other reads. */
export function isOfOneRead(error: unknown): boolean {
  if (!(error instanceof PaymentsApiError)) return false;
  const { code, status = 500 } = error;
  const isBroken = status >= 500 || code === "unexpected_answer";
  return isBroken && !OF_ALL.includes(status) && code !== "token_unavailable";
}

/**
 * Reads something of one bill. Where that alone can't be read, it is no fault of the service for
 * which the whole business waits: whoever reads fails, is tried again, and people are told.
 */
export async function readOfOne<T>(
  client: Pick<PaymentsClient, "payments">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isOfOneRead(error)) throw error;
    await canRead(client);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`This alone can't be read: ${reason}`, { cause: error });
  }
}

/** @throws {PaymentsApiError} where the service can't be read at all */
export async function canRead({ payments }: Pick<PaymentsClient, "payments">): Promise<void> {
  await payments.list({ page: 1, pageSize: 1 });
}
