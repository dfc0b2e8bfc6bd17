import { PaymentsApiError } from "../../src/payments-api/index.ts";

/** Null where the service has no such thing (404). */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PaymentsApiError && error.status === 404) return null;
    throw error;
  }
}
