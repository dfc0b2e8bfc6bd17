import { z } from "zod";
import { sumCents } from "../domain/money.ts";
import { isKnownUnpaid } from "../domain/payments/payment-states.ts";
import { cancelledPaymentSchema, createdPaymentsSchema } from "../payments-api/schemas/payment.ts";
import { depositStands } from "../domain/deposits/transactions.ts";
import type { OperationName, Shown, Terms } from "./facts.ts";

/** What a reading says of a send that had no answer. */
type Found =
  /** Exactly what was asked for. */
  | { readonly kind: "all"; readonly ids: readonly string[] }
  /** Something that is new and doesn't add up. */
  | { readonly kind: "part" }
  | { readonly kind: "none" };

/** In what the money writes differ; everything else is one protocol. */
export interface Operation {
  readonly name: OperationName;
  /** Its effect is something that wasn't there before, or another state of what was. */
  readonly effect: "new" | "changed";
  /** False where what is shown certainly is no effect of it, and need not be explained. */
  readonly concerns: (terms: Terms, shown: Shown) => boolean;
  /** Whether that is the effect: what is new and concerns it, or all that is shown (`effect`). */
  readonly judgeFound: (terms: Terms, found: readonly Shown[]) => Found;
  /** True where what it made certainly stands no more, so that another one may follow. */
  readonly isUnpaid: (shown: Shown) => boolean;
  /** How long after its answer a reading may still show the state before. */
  readonly showsWithinMs: number;
  /** What unexplained effects in a restored store's reading lead to (rule 10). */
  readonly afterLoss: "adopt" | "person" | "go-on";
  /** What a 2xx to a request at this path says was made; null where it lacks the shape: nobody knows. */
  readonly successIds: (body: unknown, path: string) => readonly string[] | null;
}

/** Of a deposit's answer only its id is told. */
const madeDepositSchema = z.object({ id: z.string().min(1) });

/** Pays a payable. */
export const pay: Operation = {
  name: "pay",
  effect: "new",
  // Whoever made it: a payment of the same bill must be explained.
  concerns: () => true,
  judgeFound: (terms, found) => {
    if (found.length === 0) return { kind: "none" };
    const ours = found.filter((shown) => isByTerms(terms, shown));
    const addsUp = ours.length > 0 && sumCents(amountsOf(ours)) === terms.amountCents;
    return addsUp ? { kind: "all", ids: idsOf(ours) } : { kind: "part" };
  },
  isUnpaid: ({ status }) => isKnownUnpaid(status),
  showsWithinMs: 0,
  afterLoss: "adopt",
  successIds: (body) => {
    const made = createdPaymentsSchema.safeParse(body).data;
    return made === undefined ? null : idsOf(made.payments);
  },
};

const TAKEN_BACK: ReadonlySet<string> = new Set(["cancelled", "refunded", "refund_pending"]);
const CANCELLABLE: ReadonlySet<string> = new Set(["scheduled", "held"]);

/** Cancels a payment; its reading shows that payment alone. */
export const cancel: Operation = {
  name: "cancel",
  effect: "changed",
  concerns: () => true,
  judgeFound: (_, found) => {
    const taken = found.filter(({ status }) => TAKEN_BACK.has(status));
    return taken.length === 0 ? { kind: "none" } : { kind: "all", ids: idsOf(taken) };
  },
  // Still as it was: the cancel that was answered did nothing.
  isUnpaid: ({ status }) => CANCELLABLE.has(status),
  showsWithinMs: 60_000,
  afterLoss: "go-on",
  // A yes that names another payment tells nothing of this one.
  successIds: (body, path) => {
    const made = cancelledPaymentSchema.safeParse(body).data;
    return made === undefined || cancelPath(made.payment.id) !== path ? null : [made.payment.id];
  },
};

/** Deposits into the balance; its reading shows all transactions that could be deposits. */
export const deposit: Operation = {
  name: "deposit",
  effect: "new",
  // The list is the whole business's: another amount or account is another deposit.
  concerns: ({ amountCents, sourceId }, shown) =>
    [0, amountCents].includes(shown.amountCents) && isUntoldOr(sourceId, shown.bankAccountId),
  judgeFound: ({ amountCents, sourceId }, found) => {
    const [only, another] = preferTold(sourceId, found);
    if (only === undefined) return { kind: "none" };
    const isOurs = another === undefined && only.amountCents === amountCents;
    return isOurs ? { kind: "all", ids: [only.id] } : { kind: "part" };
  },
  isUnpaid: (shown) => depositStands(shown) === "failed",
  showsWithinMs: 0,
  // A deposit of the same amount may be last week's.
  afterLoss: "person",
  successIds: (body) => {
    const made = madeDepositSchema.safeParse(body).data;
    return made === undefined ? null : [made.id];
  },
};

/** Same contact, account or rail, and date; what isn't told is no difference (rule 9). */
function isByTerms(terms: Terms, shown: Shown): boolean {
  return (
    isUntoldOr(terms.contactId, shown.contactId) &&
    // A payment from the balance may show another account, and a rail may be spelt differently.
    (isUntoldOr(terms.sourceId, shown.bankAccountId) || isUntoldOr(terms.rail, shown.rail)) &&
    isUntoldOr(terms.executionDate, shown.executionDate)
  );
}

function isUntoldOr(wished: string, told: string | null): boolean {
  return told === null || told === wished;
}

function preferTold(sourceId: string, found: readonly Shown[]): readonly Shown[] {
  const told = found.filter(({ bankAccountId }) => bankAccountId === sourceId);
  return told.length > 0 ? told : found;
}

/** Where a payment is cancelled. */
export function cancelPath(paymentId: string): string {
  return `/v1/payments/${encodeURIComponent(paymentId)}/cancel`;
}

function idsOf(shown: readonly { readonly id: string }[]): string[] {
  return shown.map(({ id }) => id);
}

function amountsOf(shown: readonly Shown[]): number[] {
  return shown.map(({ amountCents }) => amountCents);
}
