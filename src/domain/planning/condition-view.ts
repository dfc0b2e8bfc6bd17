import type { BillFacts, VendorFacts } from "./book.ts";

/**
 * The view of a bill that a playbook's conditions see, as the service shows the bill (API
 * specification, section 2).
 */
export interface ConditionView {
  readonly id: string;
  readonly publicId: string | null;
  readonly description: string | null;
  readonly customNumber: string | null;
  /** What is still owed and would be paid, in cents. */
  readonly amountCents: number;
  readonly totalAmountCents: number;
  readonly amountPaidCents: number;
  /** `YYYY-MM-DD`. */
  readonly dueDate: string | null;
  readonly issueDate: string | null;
  readonly status: string;
  readonly paymentStatus: string;
  readonly vendor: {
    readonly id: string | null;
    readonly name: string | null;
    readonly type: string | null;
    /** Days. */
    readonly netTerms: number | null;
    readonly bankLast4: string | null;
  };
  /** The line's flags, review reasons first; empty while bills are selected. */
  readonly flags: readonly string[];
}

/**
 * Evaluates a condition for a bill, or says why the bill's data makes it fail. Callers pass it in,
 * because domain code doesn't import CEL.
 */
export type Matches = (
  condition: string,
  view: ConditionView,
) => boolean | { readonly failed: string };

/**
 * Builds the view of a bill that conditions see: all that is owed, whatever part of it is paid.
 */
export function conditionView(
  bill: BillFacts,
  vendor: VendorFacts | undefined,
  amountCents: number,
  flags: readonly string[],
): ConditionView {
  return {
    id: bill.payableId,
    publicId: bill.publicId,
    description: bill.description,
    customNumber: bill.customNumber,
    amountCents,
    totalAmountCents: bill.totalCents,
    amountPaidCents: bill.amountPaidCents,
    dueDate: bill.dueDate,
    issueDate: bill.issueDate,
    status: bill.status,
    paymentStatus: bill.paymentStatus,
    vendor: {
      id: bill.contactId,
      name: vendor?.name ?? bill.contactName,
      type: vendor?.type ?? null,
      netTerms: vendor?.netTerms ?? null,
      bankLast4: vendor?.bankLast4 ?? null,
    },
    flags,
  };
}
