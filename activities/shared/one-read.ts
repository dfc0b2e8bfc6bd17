import { type PaymentsClient, PaymentsApiError } from "../../src/payments-api/index.ts";

const OF_ALL: readonly (number | undefined)[] = [401, 403, 429];

/** True where a read failed in a way that need not say anything of other reads. */
function isOfOneRead(error: unknown): boolean {
  if (!(error instanceof PaymentsApiError)) return false;
  const { code, status = 500 } = error;
  const isBroken = status >= 500 || code === "unexpected_answer";
  return isBroken && !OF_ALL.includes(status) && code !== "token_unavailable";
}

/**
 * Reads one thing among others. Where that alone can't be read, it is no fault of the service for
 * which the whole business waits.
 *
 * @param unread what then counts as read
 * @throws {PaymentsApiError} where the service can't be read at all
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
    // Another read tells whether anything can be read.
    await payments.list({ page: 1, pageSize: 1 });
    return unread(error);
  }
}

/** Reads something of one bill: whoever can't read it alone fails, is tried again, and people are told. */
export function readOfOne<T>(
  client: Pick<PaymentsClient, "payments">,
  read: () => Promise<T>,
): Promise<T> {
  return unlessUnread(client, read, (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`This alone can't be read: ${reason}`, { cause: error });
  });
}
