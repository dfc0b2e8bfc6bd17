import { z } from "zod";
import { sumCents } from "../domain/money.ts";
import { isKnownUnpaid, isRecallable } from "../domain/payments/payment-states.ts";
import type { Payment } from "../payments-api/index.ts";
import { cancelledPaymentSchema, createdPaymentsSchema } from "../payments-api/schemas/payment.ts";
import { depositStands } from "../domain/deposits/transactions.ts";
import type { OperationName, ShownThing, Terms } from "./facts.ts";

/** What a reading shows about a send without a response. */
type Found =
  /** Exactly the requested effect. */
  | { readonly kind: "all"; readonly ids: readonly string[] }
  /** Something new that doesn't match the request. */
  | { readonly kind: "part" }
  | { readonly kind: "none" };

/** What a response names as created. */
export interface Made {
  readonly ids: readonly string[];
  /** As the response shows them, where they are payments. */
  readonly payments: readonly Payment[];
}

/** Everything in which the money writes differ; the protocol is the same for all. */
export interface Operation {
  readonly name: OperationName;
  /** `new`: it creates something; `changed`: it changes the state of something. */
  readonly effect: "new" | "changed";
  /** False if the shown thing certainly isn't its effect and needs no explanation. */
  readonly concerns: (terms: Terms, shown: ShownThing) => boolean;
  /**
   * Judges whether the found things are its effect: for `new`, those that are new and concern it;
   * for `changed`, all that are shown.
   */
  readonly judgeFound: (terms: Terms, found: readonly ShownThing[]) => Found;
  /** True if its effect certainly no longer stands, so that another attempt may follow. */
  readonly isUnpaid: (shown: ShownThing) => boolean;
  /** How long after its response a reading may still show the old state. */
  readonly showsWithinMs: number;
  /** What a token lacks to which it is forbidden. */
  readonly scope: string;
  /** What to do about unexplained effects that a restored store reads (rule 10). */
  readonly afterLoss: "adopt" | "person" | "go-on";
  /**
   * What a 2xx to a request at this path names as created; null if it lacks the documented shape.
   */
  readonly made: (body: unknown, path: string) => Made | null;
}

/** The specification documents only the id in a deposit's response. */
const madeDepositSchema = z.object({ id: z.string().min(1) });

/** Pays a payable. */
export const pay: Operation = {
  name: "pay",
  effect: "new",
  scope: "the scope payments:initiate",
  // Every payment of the bill must be explained, external ones included.
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
  made: (body) => {
    const made = createdPaymentsSchema.safeParse(body).data;
    return made === undefined ? null : { ids: idsOf(made.payments), payments: made.payments };
  },
};

const TAKEN_BACK: ReadonlySet<string> = new Set(["cancelled", "refunded", "refund_pending"]);

/** Cancels a payment; its reading shows that payment alone. */
export const cancel: Operation = {
  name: "cancel",
  effect: "changed",
  scope: "the scope payments:initiate",
  concerns: () => true,
  judgeFound: (_, found) => {
    const taken = found.filter(({ status }) => TAKEN_BACK.has(status));
    return taken.length === 0 ? { kind: "none" } : { kind: "all", ids: idsOf(taken) };
  },
  // If the payment is still cancellable, the cancel had no effect.
  isUnpaid: ({ status }) => isRecallable(status),
  showsWithinMs: 60_000,
  afterLoss: "go-on",
  // A 2xx that names another payment says nothing about this one.
  made: (body, path) => {
    const payment = cancelledPaymentSchema.safeParse(body).data?.payment;
    const isOther = payment === undefined || cancelPath(payment.id) !== path;
    return isOther ? null : { ids: [payment.id], payments: [payment] };
  },
};

/** Deposits into the balance; its reading shows every transaction that could be a deposit. */
export const deposit: Operation = {
  name: "deposit",
  effect: "new",
  scope: "a scope for deposits, such as balance:write",
  // The list covers the whole business: another amount or account is another deposit.
  concerns: ({ amountCents, sourceId }, shown) =>
    [0, amountCents].includes(shown.amountCents) && isMissingOr(sourceId, shown.bankAccountId),
  judgeFound: ({ amountCents, sourceId }, found) => {
    const [only, another] = preferNamed(sourceId, found);
    if (only === undefined) return { kind: "none" };
    const isOurs = another === undefined && only.amountCents === amountCents;
    return isOurs ? { kind: "all", ids: [only.id] } : { kind: "part" };
  },
  isUnpaid: (shown) => depositStands(shown) === "failed",
  showsWithinMs: 0,
  // A deposit of the same amount may be last week's, so a person must decide.
  afterLoss: "person",
  made: (body) => {
    const made = madeDepositSchema.safeParse(body).data;
    return made === undefined ? null : { ids: [made.id], payments: [] };
  },
};

/**
 * True if the contact, the account or rail, and the date are the same, and the bill isn't another
 * one. A missing field is no difference (rule 9).
 */
function isByTerms(terms: Terms, shown: ShownThing): boolean {
  return (
    // A payment without a rail was recorded outside the service (API specification, section 2).
    shown.rail !== null &&
    shown.namesOther !== true &&
    isMissingOr(terms.contactId, shown.contactId) &&
    // A payment from the balance may show another account, and the service may spell a rail
    // differently.
    (isMissingOr(terms.sourceId, shown.bankAccountId) || shown.rail === terms.rail) &&
    isMissingOr(terms.executionDate, shown.executionDate)
  );
}

function isMissingOr(wished: string, shown: string | null): boolean {
  return shown === null || shown === wished;
}

function preferNamed(sourceId: string, found: readonly ShownThing[]): readonly ShownThing[] {
  const named = found.filter(({ bankAccountId }) => bankAccountId === sourceId);
  return named.length > 0 ? named : found;
}

/** Returns the path of a payment's cancel request. */
export function cancelPath(paymentId: string): string {
  return `/v1/payments/${encodeURIComponent(paymentId)}/cancel`;
}

function idsOf(shown: readonly { readonly id: string }[]): string[] {
  return shown.map(({ id }) => id);
}

function amountsOf(shown: readonly ShownThing[]): number[] {
  return shown.map(({ amountCents }) => amountCents);
}
