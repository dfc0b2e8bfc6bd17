import type { Manner } from "./bad-manners.ts";

/**
 * One business of the stub: its bills, vendors and payments, and counts of the requests that it
 * got.
 */
export interface StubBusiness {
  readonly businessId: string;
  readonly token: string;
  readonly bills: number;
  readonly payments: StubPayment[];
  readonly byPayable: Map<string, StubPayment[]>;
  /** Answers of money writes, by key. */
  readonly answers: Map<string, StubAnswer>;
  /** Requests let through in a second; undefined if there is no limit. */
  readonly requestsPerSecond: number | undefined;
  /** Undefined for a service that behaves. */
  readonly manner: Manner | undefined;
  readonly counts: StubCounts;
  /** Start of the second that is counted; `letThrough` is the number let through in it. */
  second: number;
  letThrough: number;
}

export interface StubCounts {
  pays: number;
  reads: number;
  rateLimited: number;
  /** Requests to a badly behaved service that wait for a response, now and at most. */
  waiting: number;
  mostWaiting: number;
  /** Money writes for a bill that was already on its way. */
  paidTwice: number;
  /** Instants of the first payment's arrival and of the last one's answer. */
  firstPayMs: number;
  lastPaidMs: number;
}

/** The answer of `GET /stub/businesses/{id}`. */
export interface StubFigures extends StubCounts {
  readonly paidBills: number;
  readonly paidMoreThanOnce: number;
}

export interface StubPayment {
  readonly id: string;
  readonly payableId: string;
  readonly contactId: string;
  readonly amountCents: number;
  readonly scheduledAt: string;
  readonly createdAt: string;
}

export interface StubAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Record<string, string>;
}

export interface NewStubBusiness {
  readonly businessId: string;
  readonly token: string;
  readonly bills: number;
  readonly requestsPerSecond?: number;
  readonly manner?: Manner;
}

const BILLS_OF_A_VENDOR = 10;
const CREATED_AT = "2026-01-02T10:00:00.000Z";
const ACCOUNT = "ba_1";
export const RAIL = "PROVIDER";

export function newBusiness(wanted: NewStubBusiness): StubBusiness {
  return {
    businessId: wanted.businessId,
    token: wanted.token,
    bills: wanted.bills,
    payments: [],
    byPayable: new Map(),
    answers: new Map(),
    requestsPerSecond: wanted.requestsPerSecond,
    manner: wanted.manner,
    counts: {
      ...{ pays: 0, reads: 0, rateLimited: 0, waiting: 0, mostWaiting: 0 },
      ...{ paidTwice: 0, firstPayMs: 0, lastPaidMs: 0 },
    },
    second: 0,
    letThrough: 0,
  };
}

export function vendorCount({ bills }: StubBusiness): number {
  return Math.ceil(bills / BILLS_OF_A_VENDOR);
}

/** Returns bill number `index`, in the shape of a PayableDetail (API specification, section 2). */
export function payableView(of: StubBusiness, index: number): object {
  const id = `bill-${index}`;
  const totalAmountCents = amountCents(index);
  const paid = (of.byPayable.get(id) ?? []).length > 0;
  return {
    id,
    publicId: `B-${index}`,
    status: "approved",
    paymentStatus: paid ? "scheduled" : "none",
    totalAmountCents,
    amountPaidCents: paid ? totalAmountCents : 0,
    remainingAmountCents: paid ? 0 : totalAmountCents,
    dueDate: "2026-01-31",
    issueDate: null,
    customNumber: null,
    description: `Invoice ${index}`,
    contact: { id: contactOf(index), displayName: `Vendor ${vendorOf(index)}` },
    items: [],
  };
}

export function amountCents(index: number): number {
  return 10_000 + (index % 900) * 37;
}

function vendorOf(index: number): number {
  return Math.floor(index / BILLS_OF_A_VENDOR);
}

export function contactOf(index: number): string {
  return `vendor-${vendorOf(index)}`;
}

export function contactView(index: number): object {
  return {
    id: `vendor-${index}`,
    type: "payee",
    status: "active",
    displayName: `Vendor ${index}`,
    emails: [],
    phone: null,
    paymentDirection: "can_be_paid",
    netTerms: null,
    bankAccount: { last4: String(1000 + (index % 9000)) },
    taxInfo: null,
    paymentReady: true,
    createdAt: CREATED_AT,
    updatedAt: null,
    archivedAt: null,
  };
}

/**
 * @param status `scheduled` in the answer to the payment; the bank has settled it by the next read
 */
export function paymentView(payment: StubPayment, status: "scheduled" | "completed"): object {
  return {
    ...payment,
    status,
    bankAccountId: ACCOUNT,
    paymentRail: RAIL,
    processedAt: status === "completed" ? payment.createdAt : null,
    failureReason: null,
    updatedAt: payment.createdAt,
  };
}

export const FUNDING_SOURCES = {
  items: [
    {
      id: ACCOUNT,
      rail: RAIL,
      kind: "bank",
      name: "First Bank",
      last4: "6789",
      availableCents: null,
      isDefault: true,
      canPay: true,
      unavailableReason: null,
      actionUrl: null,
      pay: { paymentRail: RAIL, bankAccountId: ACCOUNT },
    },
  ],
};

export const BANK_ACCOUNTS = {
  items: [{ id: ACCOUNT, status: "verified", accountNumberLast4: "6789", isDefault: true }],
} as const;
