/** A balance transaction as far as it is told: its shape is not shown, so anything may be missing. */
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
 * The transactions that a deposit of this amount from this account could be. What is not told is no
 * difference: a wrong "none" would pull the money a second time.
 */
export function couldBe(
  asked: { readonly amountCents: number; readonly bankAccountId: string },
  found: readonly ShownTransaction[],
): ShownTransaction[] {
  // A list of everything that moved has payments and fees of the same amount as well.
  const isTold = found.some(({ type }) => DEPOSIT.test(type ?? ""));
  return found.filter(
    (each) =>
      !/withdraw/i.test(each.type ?? "") &&
      (!isTold || mayBeDeposit(each)) &&
      (each.amountCents ?? asked.amountCents) === asked.amountCents &&
      (each.bankAccountId ?? asked.bankAccountId) === asked.bankAccountId,
  );
}

/** The amount of what is told to be a deposit of so much; 0 where that isn't certain. */
export function toldCents(transaction: ShownTransaction): number {
  return mayBeDeposit(transaction) ? (transaction.amountCents ?? 0) : 0;
}

function mayBeDeposit({ type }: ShownTransaction): boolean {
  return type === undefined || type === null || DEPOSIT.test(type);
}

const ARRIVED = /^(completed?|settled|succeeded|cleared|posted)$/i;
const CAME_TO_NOTHING =
  /^(failed|returned|cancell?ed|refund_pending|refunded|rejected|declined|reversed)$/i;

/** Why a deposit that had arrived is there no more; null where nothing says so. */
export function takenBack(shown: ShownTransaction | undefined): string | null {
  if (shown === undefined || depositStands(shown) !== "failed") return null;
  const why = shown.failureReason ?? "the service gives no reason";
  return `It had arrived, and is ${shown.status} now: ${why}`;
}

/** Where a deposit stands; a status that nobody knows counts as on its way. */
export function depositStands({
  status,
}: ShownTransaction): "completed" | "failed" | "on-its-way" | "not-told" {
  if (status === undefined || status === null) return "not-told";
  if (ARRIVED.test(status)) return "completed";
  return CAME_TO_NOTHING.test(status) ? "failed" : "on-its-way";
}
