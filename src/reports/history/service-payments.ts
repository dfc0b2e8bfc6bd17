import type { BusinessProfile } from "../../config/business-profile.ts";
import type { ActionContext } from "../../actions/context.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { paymentsOfBill } from "../../ledger/made-payments.ts";
import type { Payment } from "../../payments-api/index.ts";

/** A person waits for the answer: a slow service must not delay what Payrun knows. */
const TIME_LIMIT_MS = 3_000;

/** All payments of a bill, as just read from the service. */
export interface PaymentsRead {
  readonly payments: readonly Payment[];
  /** ISO instant at which they were read. */
  readonly at: string;
}

/** Returns the bill's payments; undefined if the service doesn't answer in time. */
export async function servicePayments(
  { clientOf, nowMs, store }: Pick<ActionContext, "clientOf" | "nowMs" | "store">,
  profile: BusinessProfile,
  payableId: string,
): Promise<PaymentsRead | undefined> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const query = { payableId };
    const listed = await clientOf(profile).payments.listAll(query, { signal, patienceMs: 0 });
    const payments = await paymentsOfBill(store.db, profile.businessId, payableId, listed);
    return { payments, at: new Date(nowMs()).toISOString() };
  } catch {
    return undefined;
  }
}

/** Says which of a bill's payments are not as the service shows them now, and how old that is. */
export function asOfSentences(
  shown: PaymentsRead | undefined,
  payments: readonly { readonly id: string; readonly seenAt: string | null }[],
  zone: string,
): string[] {
  if (shown === undefined) {
    const seenAt = payments
      .flatMap(({ seenAt: at }) => at ?? [])
      .toSorted()
      .at(-1);
    return [
      seenAt === undefined
        ? "The service didn't answer: this is what Payrun knows by itself."
        : `This is as of ${spokenTime(seenAt, zone)}, when Payrun last saw its payments: the service didn't answer now.`,
    ];
  }
  const listed = new Set(shown.payments.map(({ id }) => id));
  const missing = payments.filter(({ id }) => !listed.has(id)).map(({ id }) => id);
  if (missing.length === 0) return [];
  return [
    `The service doesn't list ${missing.join(", ")} among its payments now: what is shown here is what Payrun saw last.`,
  ];
}
