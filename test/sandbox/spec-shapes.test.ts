import { expect } from "vitest";
import type { Json, TestSandbox } from "../support/sandbox.ts";
import { sharedSandboxTest } from "./sandbox-test.ts";
import type { Page } from "./world.ts";

// Every field that section 2 of the API specification lists, with the types it may have; a resource
// has these fields and no others.

const text = "string";
const cents = "integer";
const instant = "instant";
const date = "date";
const flag = "boolean";

function kindsOf(value: unknown): string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value === "number") return [Number.isSafeInteger(value) ? "integer" : "fraction"];
  if (typeof value !== "string") return [typeof value];
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return ["date", "string"];
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value) ? ["instant", "string"] : ["string"];
}

function expectShape(what: string, resource: Json, shape: Readonly<Record<string, string>>): void {
  expect(Object.keys(resource).toSorted(), what).toEqual(Object.keys(shape).toSorted());
  for (const [field, allowed] of Object.entries(shape)) {
    const fits = kindsOf(resource[field]).some((kind) => allowed.split("|").includes(kind));
    expect(fits, `${what}.${field} = ${JSON.stringify(resource[field])}, not ${allowed}`).toBe(
      true,
    );
  }
}

const contact = {
  id: text,
  type: text,
  status: text,
  displayName: `${text}|null`,
  emails: "array",
  phone: `${text}|null`,
  paymentDirection: text,
  netTerms: `${cents}|null`,
  bankAccount: "object|null",
  taxInfo: "object|null",
  paymentReady: flag,
  createdAt: instant,
  updatedAt: `${instant}|null`,
  archivedAt: `${instant}|null`,
};

const payment = {
  id: text,
  status: text,
  amountCents: cents,
  contactId: `${text}|null`,
  payableId: `${text}|null`,
  bankAccountId: `${text}|null`,
  paymentRail: `${text}|null`,
  scheduledAt: instant,
  processedAt: `${instant}|null`,
  failureReason: `${text}|null`,
  createdAt: instant,
  updatedAt: instant,
};

const payableInList = {
  id: text,
  publicId: text,
  status: text,
  paymentStatus: text,
  totalAmountCents: cents,
  amountPaidCents: cents,
  remainingAmountCents: cents,
  dueDate: `${date}|null`,
  issueDate: `${date}|null`,
  customNumber: `${text}|null`,
  description: `${text}|null`,
  contact: "object",
};

const item = {
  name: `${text}|null`,
  description: `${text}|null`,
  quantity: "integer|fraction",
  unitAmountCents: cents,
  totalCents: cents,
};

const bankAccount = {
  id: text,
  status: text,
  type: text,
  connectionType: text,
  name: `${text}|null`,
  institutionName: `${text}|null`,
  accountNumberLast4: `${text}|null`,
  routingNumberLast4: `${text}|null`,
  isDefault: flag,
  microDepositsInitiatedAt: `${instant}|null`,
  microDepositsCompletedAt: `${instant}|null`,
  verificationAttempts: cents,
};

const fundingSource = {
  id: text,
  rail: text,
  kind: text,
  name: `${text}|null`,
  last4: `${text}|null`,
  availableCents: `${cents}|null`,
  isDefault: flag,
  canPay: flag,
  unavailableReason: `${text}|null`,
  actionUrl: `${text}|null`,
  pay: "object",
};

const balance = {
  status: text,
  availableCents: cents,
  cashCents: cents,
  reservedCents: cents,
  pendingInboundCents: cents,
  pendingInboundPassThroughCents: cents,
  pendingOutboundCents: cents,
  isReady: flag,
  canSendPayments: flag,
  sameDayAch: "object",
  linkedBank: "object|null",
  dashboardUrl: text,
};

const it = sharedSandboxTest({ fixture: "sample" });

async function all(sandbox: TestSandbox, path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let page = 1; ; page += 1) {
    const joined = `${path}${path.includes("?") ? "&" : "?"}page=${page}&pageSize=100`;
    const { status, body } = await sandbox.api<Page<Json>>("GET", joined);
    expect(status, path).toBe(200);
    expect(Object.keys(body)).toEqual(["items", "totalCount"]);
    items.push(...body.items);
    if (items.length >= body.totalCount) return items;
  }
}

it("contacts have the fields of section 2", async ({ sandbox }) => {
  const contacts = [
    ...(await all(sandbox, "/v1/contacts")),
    ...(await all(sandbox, "/v1/contacts?status=revoked")),
  ];
  expect(new Set(contacts.map(({ status }) => status))).toEqual(
    new Set(["active", "archived", "revoked"]),
  );
  for (const one of contacts) {
    expectShape("contact", one, contact);
    expect(["payee", "business"]).toContain(one["type"]);
    const { emails, phone, bankAccount: account, status, paymentReady, archivedAt, taxInfo } = one;
    if (one["type"] === "business") expect([emails, phone]).toEqual([[], null]);
    expect(paymentReady).toBe(account !== null && status === "active");
    expect(archivedAt === null).toBe(status !== "archived");
    if (account !== null) expect(account).toEqual({ last4: expect.stringMatching(/^\d{4}$/) });
    const tax = { legalName: `${text}|null`, taxIdType: `${text}|null`, taxIdMask: `${text}|null` };
    if (taxInfo !== null) expectShape("taxInfo", taxInfo as Json, tax);
    const single = await sandbox.api("GET", `/v1/contacts/${String(one["id"])}`);
    expect(single.body).toEqual(one);
  }
});

it("bills have the fields of section 2, in lists without their items", async ({ sandbox }) => {
  const bills = await all(sandbox, "/v1/payables");
  for (const one of bills) {
    expectShape("payable", one, payableInList);
    expectShape("contact", one["contact"] as Json, {
      id: `${text}|null`,
      displayName: `${text}|null`,
    });
    expect(one["remainingAmountCents"]).toBe(
      Number(one["totalAmountCents"]) - Number(one["amountPaidCents"]),
    );
  }
  expect(new Set(bills.map(({ publicId }) => publicId)).size).toBe(bills.length);
  for (const one of bills.slice(0, 20)) {
    const { body } = await sandbox.api("GET", `/v1/payables/${String(one["id"])}`);
    const { items, ...rest } = body;
    expect(rest).toEqual(one);
    for (const line of items as Json[]) {
      expectShape("item", line, item);
      expect(line["totalCents"]).toBe(Number(line["quantity"]) * Number(line["unitAmountCents"]));
    }
    const bystander = await sandbox.api("GET", `/v1/payables/${String(one["publicId"])}`);
    expect(bystander.status, "the public id is no id").toBe(404);
  }
});

it("payments of every status have the fields of section 2", async ({ sandbox }) => {
  const payments = await all(sandbox, "/v1/payments");
  for (const one of payments) {
    expectShape("payment", one, payment);
    const isFailed = one["status"] === "failed" || one["status"] === "returned";
    expect(one["failureReason"] !== null, JSON.stringify(one)).toBe(isFailed);
    const isDone = isFailed || one["status"] === "completed";
    expect(one["processedAt"] !== null, JSON.stringify(one)).toBe(isDone);
  }
  const created = payments.map(({ createdAt }) => String(createdAt));
  expect(created).toEqual(created.toSorted().toReversed());
  for (const status of new Set(payments.map((one) => String(one["status"])))) {
    const filtered = await all(sandbox, `/v1/payments?status=${status}`);
    expect(filtered).toEqual(payments.filter((one) => one["status"] === status));
  }
  const single = await sandbox.api("GET", `/v1/payments/${String(payments[0]?.["id"])}`);
  expect(single.body).toEqual(payments[0]);
});

it("createdAfter includes payments of its instant, and createdBefore excludes them", async ({
  sandbox,
}) => {
  const payments = await all(sandbox, "/v1/payments");
  const middle = String(payments[Math.floor(payments.length / 2)]?.["createdAt"]);
  const after = await all(sandbox, `/v1/payments?createdAfter=${encodeURIComponent(middle)}`);
  const before = await all(sandbox, `/v1/payments?createdBefore=${encodeURIComponent(middle)}`);
  expect([...after, ...before]).toEqual(payments);
  expect(after.some(({ createdAt }) => createdAt === middle)).toBe(true);
});

it("bank accounts, funding sources and the balance have the fields of section 2", async ({
  sandbox,
}) => {
  const accounts = await sandbox.api<{ items: Json[] }>("GET", "/v1/bank-accounts");
  expect(accounts.body.items.length).toBeGreaterThan(0);
  for (const one of accounts.body.items) {
    expectShape("bank account", one, bankAccount);
    const single = await sandbox.api("GET", `/v1/bank-accounts/${String(one["id"])}`);
    expect(single.body).toEqual(one);
  }
  const sources = await sandbox.api<{ items: Json[] }>("GET", "/v1/funding-sources");
  for (const one of sources.body.items) {
    expectShape("funding source", one, fundingSource);
    expect(one["pay"]).not.toHaveProperty("achAuthorizationAccepted");
    expect(one["unavailableReason"] === null).toBe(one["canPay"]);
  }
  expect(sources.body.items.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  const { body } = await sandbox.api("GET", "/v1/balance");
  expectShape("balance", body, balance);
  const { cashCents, reservedCents, availableCents } = body;
  expect(Number(cashCents) - Number(reservedCents)).toBe(availableCents);
});
