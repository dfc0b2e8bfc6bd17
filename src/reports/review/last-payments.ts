import { dayOfInstant, namedDay } from "../../domain/clock/named-day.ts";
import type { Payment, PaymentsClient } from "../../payments-api/index.ts";

/** Payments to a vendor that are shown beside a flagged bill. */
const SHOWN = 3;

/** A person at a screen waits no longer than this; what is not read by then is left out. */
const PATIENCE_MS = 5_000;

/** A payment to a vendor, for an approver to compare a bill with. */
export interface VendorPayment {
  readonly paymentId: string;
  readonly payableId: string | null;
  readonly amountCents: number;
  readonly status: string;
  /** Day in New York. */
  readonly on: string;
}

/**
 * Reads the service's last payments to vendors, newest first, including external payments.
 *
 * @returns by contact; none for a vendor whose payments could not be read in time
 */
export async function lastPaymentsTo(
  client: PaymentsClient,
  contactIds: readonly string[],
  most = SHOWN,
): Promise<ReadonlyMap<string, readonly VendorPayment[]>> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const read = async (contactId: string) => {
    try {
      const query = { contactId, page: 1, pageSize: most };
      const { items } = await client.payments.list(query, { signal, patienceMs: 0 });
      return [[contactId, items.map(shownOf)] as const];
    } catch {
      return [];
    }
  };
  const found = await Promise.all([...new Set(contactIds)].map(read));
  return new Map(found.flat());
}

function shownOf({ id, payableId, amountCents, status, ...times }: Payment): VendorPayment {
  const { processedAt, scheduledAt, createdAt } = times;
  const on = dayOfInstant(processedAt) ?? namedDay(scheduledAt) ?? dayOfInstant(createdAt) ?? "";
  return { paymentId: id, payableId, amountCents, status, on };
}
