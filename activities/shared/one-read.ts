import { type PaymentsClient, PaymentsApiError } from "../../src/payments-api/index.ts";

/** Statuses that say something about all reads of a business. */
export const OF_ALL_READS: readonly (number | undefined)[] = [401, 403, 429];

/** True if a read failed in a way that need not say anything about other reads. */
function isOfOneRead(error: unknown): boolean {
  if (!(error instanceof PaymentsApiError)) return false;
  const { code, status = 500 } = error;
  const isBroken = status >= 500 || code === "unexpected_answer";
  return isBroken && !OF_ALL_READS.includes(status) && code !== "token_unavailable";
}

/**
 * Reads one thing among others. If that alone can't be read, this is no fault of the service for
 * which the whole business would wait.
 *
 * @param unread returns what then counts as read
 * @throws {PaymentsApiError} if the service can't be read at all
 */
export async function unlessUnread<T, Unread>(
  { payments }: Pick<PaymentsClient, "payments">,
  read: () => Promise<T>,
  unread: (error: unknown) => Unread,
): Promise<T | Unread> {
  try {
    return await read();
  } catch (error) {
    if (!isOfOneRead(error)) throw error;
    // Another read shows whether anything can be read.
    await payments.list({ page: 1, pageSize: 1 });
    return unread(error);
  }
}

/**
 * Reads something of one bill. If that alone can't be read, the step fails and is tried again, and
 * people are notified.
 */
export function readOfOne<T>(
  client: Pick<PaymentsClient, "payments">,
  read: () => Promise<T>,
): Promise<T> {
  return unlessUnread(client, read, (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`This alone can't be read: ${reason}`, { cause: error });
  });
}
