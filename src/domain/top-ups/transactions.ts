/** A balance transaction as far as it is told: its shape is not shown, so anything may be missing. */
export interface ShownTransaction {
  readonly id: string;
  readonly type?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly amountCents?: number | null | undefined;
  readonly bankAccountId?: string | null | undefined;
  readonly failureReason?: string | null | undefined;
}

/** The request that a look-up is about. */
export interface AskedDeposit {
  readonly amountCents: number;
  readonly bankAccountId: string;
}

export type DepositLookUp =
  /** It was made, as this transaction. */
  | { readonly kind: "adopt"; readonly transaction: ShownTransaction }
  /** Nothing new that it could be, as far as can be seen at this moment. */
  | { readonly kind: "none" }
  /** Several new ones could be it: a person must look. */
  | { readonly kind: "unclear"; readonly transactionIds: readonly string[] };

/**
 * The transactions that a deposit of this amount could be. What is not told is no difference: a
 * wrong "none" would pull the money a second time.
 */
export function couldBe(
  asked: Pick<AskedDeposit, "amountCents">,
  found: readonly ShownTransaction[],
): ShownTransaction[] {
  return found.filter(
    ({ type, amountCents }) =>
      !/withdraw/i.test(type ?? "") &&
      (amountCents === undefined || amountCents === null || amountCents === asked.amountCents),
  );
}

const DEPOSIT = /deposit/i;

/**
 * What a look-up says about a deposit whose answer is unknown.
 *
 * @param known ids that were there before its first send, or belong to other requests
 */
export function judgeDepositLookUp(
  asked: AskedDeposit,
  known: ReadonlySet<string>,
  found: readonly ShownTransaction[],
): DepositLookUp {
  const unknown = couldBe(asked, found).filter(({ id }) => !known.has(id));
  const deposits = unknown.filter(({ type }) => DEPOSIT.test(type ?? ""));
  // A list of everything that moved has payments and fees of the same amount as well.
  const fresh = deposits.length > 0 ? deposits : unknown;
  const sameAccount = fresh.filter(({ bankAccountId }) => bankAccountId === asked.bankAccountId);
  const [only, other] = sameAccount.length > 0 ? sameAccount : fresh;
  if (only === undefined) return { kind: "none" };
  const isDeposit = only.type === undefined || only.type === null || DEPOSIT.test(only.type);
  const isTold = only.amountCents === asked.amountCents && isDeposit;
  if (other === undefined && isTold) return { kind: "adopt", transaction: only };
  return { kind: "unclear", transactionIds: fresh.map(({ id }) => id) };
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
