import { PaymentsApiError } from "../../src/payments-api/index.ts";

/** Returns what `read` returns; null if the service has no such thing (404). */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PaymentsApiError && error.status === 404) return null;
    throw error;
  }
}
