import type { ApiAnswer, Json, TestSandbox } from "../support/sandbox.ts";

/** The fields of a payment that the sandbox's tests read. */
export interface Payment {
  id: string;
  status: string;
  amountCents: number;
  contactId: string | null;
  payableId: string | null;
  bankAccountId: string | null;
  paymentRail: string | null;
  scheduledAt: string;
  processedAt: string | null;
  failureReason: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Created {
  payableId: string;
  payments: Payment[];
}

export interface Page<T> {
  items: T[];
  totalCount: number;
}

let serial = 0;

/** Returns a name or an idempotency key that no other test uses. */
export function unique(what: string): string {
  serial += 1;
  return `${what}-${serial}`;
}

export const bankDetails = {
  accountNumber: "000123456789",
  routingNumber: "021000021",
  accountType: "checking",
};

/** A Monday at 10:00 in New York, with no holiday in its week or the next. */
export const monday = "2029-03-12T14:00:00Z";

/** Creates a vendor that can be paid. @returns its id */
export async function makeVendor(sandbox: TestSandbox, fields: Json = {}): Promise<string> {
  const answer = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
    body: { displayName: unique("Vendor"), bankAccount: bankDetails, ...fields },
  });
  if (answer.status !== 201) throw new Error(`no vendor: ${answer.text}`);
  return answer.body.id;
}

/** Returns the id of the business's first bank account. */
export async function defaultBank(sandbox: TestSandbox): Promise<string> {
  const { body } = await sandbox.api<Page<{ id: string }>>("GET", "/v1/bank-accounts");
  return body.items[0]?.id ?? "";
}

/** Creates an approved bill of $1,000.00, of a new vendor unless one is given. @returns its id */
export async function makeBill(sandbox: TestSandbox, fields: Json = {}): Promise<string> {
  const contactId = "contactId" in fields ? fields["contactId"] : await makeVendor(sandbox);
  const bill = await sandbox.control.createPayable({
    totalAmountCents: 100_000,
    dueDate: "2030-01-31",
    ...fields,
    contactId,
  });
  return bill.id;
}

export const fromBalance = { paymentRail: "SERVICE", fundingSource: "balance" };

/** Pays from the balance, under a new key unless one is given. */
export function pay(
  sandbox: TestSandbox,
  body: Json,
  key = unique("key"),
): Promise<ApiAnswer<Created & Json>> {
  return sandbox.api("POST", "/v1/payments", { key, body: { ...fromBalance, ...body } });
}

/** Returns the payments of a bill, oldest first. */
export async function paymentsOf(sandbox: TestSandbox, payableId: string): Promise<Payment[]> {
  const answer = await sandbox.api<Page<Payment>>("GET", `/v1/payments?payableId=${payableId}`);
  return answer.body.items.toReversed();
}

export async function statusesOf(sandbox: TestSandbox, payableId: string): Promise<string[]> {
  return (await paymentsOf(sandbox, payableId)).map(({ status }) => status);
}

/** Returns the kinds of a bill's moves in the bank's ledger, in order. */
export async function movesOf(sandbox: TestSandbox, payableId: string): Promise<string[]> {
  const ledger = await sandbox.control.ledger();
  return ledger.filter((entry) => entry.payableId === payableId).map(({ kind }) => kind);
}

/** Returns the date in New York that is some days after today's, by the bank clock. */
export async function newYorkDay(sandbox: TestSandbox, daysAhead: number): Promise<string> {
  const { bank } = await sandbox.control.clock();
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(
    new Date(bank),
  );
  const date = new Date(`${today}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + daysAhead);
  return date.toISOString().slice(0, 10);
}

export async function billNow(sandbox: TestSandbox, id: string): Promise<Json> {
  return (await sandbox.api("GET", `/v1/payables/${id}`)).body;
}

/** Returns the payment of a bill, the oldest of several. @throws if it has none */
export async function onlyPayment(sandbox: TestSandbox, payableId: string): Promise<Payment> {
  const [payment] = await paymentsOf(sandbox, payableId);
  if (payment === undefined) throw new Error("no payment");
  return payment;
}
