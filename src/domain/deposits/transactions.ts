/**
 * A balance transaction. The specification doesn't document its shape, so any field may be missing.
 */
export interface ShownTransaction {
  readonly id: string;
  readonly type?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly amountCents?: number | null | undefined;
  readonly bankAccountId?: string | null | undefined;
  readonly failureReason?: string | null | undefined;
  readonly createdAt?: string | null | undefined;
}

const DEPOSIT = /deposit/i;

/**
 * Returns the transactions that could be a deposit of this amount from this account. A missing
 * field matches: a wrong "none" would debit the account a second time.
 */
export function couldBe(
  asked: { readonly amountCents: number; readonly bankAccountId: string },
  found: readonly ShownTransaction[],
): ShownTransaction[] {
  // A list of all kinds of transactions also has payments and fees of the same amount.
  const isTold = found.some(({ type }) => DEPOSIT.test(type ?? ""));
  return found.filter(
    (each) =>
      !/withdraw/i.test(each.type ?? "") &&
      (!isTold || mayBeDeposit(each)) &&
      (each.amountCents ?? asked.amountCents) === asked.amountCents &&
      (each.bankAccountId ?? asked.bankAccountId) === asked.bankAccountId,
  );
}

/** Returns the amount of a deposit; 0 if the transaction may be something else. */
export function depositCents(transaction: ShownTransaction): number {
  return mayBeDeposit(transaction) ? (transaction.amountCents ?? 0) : 0;
}

function mayBeDeposit({ type }: ShownTransaction): boolean {
  return type === undefined || type === null || DEPOSIT.test(type);
}

const ARRIVED = /^(completed?|settled|succeeded|cleared|posted)$/i;
const CAME_TO_NOTHING =
  /^(failed|returned|cancell?ed|refund_pending|refunded|rejected|declined|reversed)$/i;

/** Returns why a deposit that had arrived is gone; null if the service doesn't show that it is. */
export function takenBack(shown: ShownTransaction | undefined): string | null {
  if (shown === undefined || depositStands(shown) !== "failed") return null;
  const why = shown.failureReason ?? "the service gives no reason";
  return `It had arrived, and is ${shown.status} now: ${why}`;
}

/** Returns the state of a deposit; an unknown status counts as on its way. */
export function depositStands({
  status,
}: ShownTransaction): "completed" | "failed" | "on-its-way" | "not-shown" {
  if (status === undefined || status === null) return "not-shown";
  if (ARRIVED.test(status)) return "completed";
  return CAME_TO_NOTHING.test(status) ? "failed" : "on-its-way";
}
