import { openAccount, setCash } from "../balance/cash.ts";
import { loadVerification } from "../businesses/review.ts";
import type { SandboxContext } from "../context.ts";
import type {
  FixtureBankAccount,
  FixtureBusiness,
  FixtureContact,
  FixtureObject,
  FixturePayable,
} from "../fixtures/fixture-object.ts";
import { invalid } from "../http/api-error.ts";
import { newId } from "../ids.ts";
import { enterInvoice } from "../invoices/given.ts";
import { rememberAccountNumber } from "../payments/magic.ts";
import { insertOutcome } from "../payments/outcomes.ts";
import { refreshPaymentStatus } from "../payments/payment-rows.ts";
import { insertBankAccount } from "../bank-accounts/bank-accounts.ts";
import { sendMicroDeposits } from "../bank-accounts/micro-deposits.ts";
import { insertBusiness } from "../resources/businesses.ts";
import { insertContact } from "../resources/contacts.ts";
import { totalled } from "../resources/payable-operations.ts";
import { insertPayable, takeBillNumbers } from "../resources/payables.ts";
import { insertEndpoint } from "../webhooks/endpoints.ts";
import { insertPastPayment } from "./past-payments.ts";

/**
 * Loads a fixture into empty tables. Runs inside a transaction.
 *
 * @param nowMs the instant at which both clocks are about to start.
 * @returns the ids of its businesses, in the fixture's order.
 * @throws {ApiError} 422 if a bill names a contact that the fixture doesn't have.
 */
export function loadFixture(ctx: SandboxContext, fixture: FixtureObject, nowMs: number): string[] {
  const loading: Loading = { ...ctx, nowMs, organizations: new Map() };
  const ids = fixture.businesses.map((business) => loadBusiness(loading, business));
  for (const { match, times, ...planned } of fixture.outcomes ?? []) {
    insertOutcome(ctx.db, match, planned, times);
  }
  return ids;
}

interface Loading extends SandboxContext {
  readonly nowMs: number;
  /** The ids of the organizations, by the name that the fixture gives them. */
  readonly organizations: Map<string, string>;
}

/**
 * Returns the id of a business's organization. Businesses that name the same organization belong
 * together; a business that names none gets one of its own.
 */
function organizationOf({ organizations }: Loading, { organization }: FixtureBusiness): string {
  const id = organizations.get(organization ?? "") ?? newId("org");
  if (organization !== undefined) organizations.set(organization, id);
  return id;
}

function loadBusiness(ctx: Loading, business: FixtureBusiness): string {
  const id = business.id ?? newId("biz");
  const verification = business.verification ?? "verified";
  const hasBalance = business.balanceCents !== undefined || verification === "verified";
  const cashCents = hasBalance ? (business.balanceCents ?? 0) : 0;
  insertBusiness(ctx.db, {
    id,
    organization_id: organizationOf(ctx, business),
    name: business.name,
    verification,
    setup_complete: business.setup === "incomplete" ? 0 : 1,
    payments_locked: business.paymentsLocked === true ? 1 : 0,
    accepts_double_payments: 0,
    balance_feature: business.features?.balance === false ? 0 : 1,
    accelerated_feature: business.features?.acceleratedClearing === false ? 0 : 1,
    balance_status: hasBalance && business.balanceCents !== null ? "open" : null,
    cash_cents: 0,
    next_bill_number: 0,
    created_at: ctx.nowMs,
  });
  loadVerification(ctx.db, { id, verification, entityType: business.entityType }, ctx.nowMs);
  openAccount(ctx.db, id, cashCents + pastCents(business));
  for (const [index, account] of (business.bankAccounts ?? []).entries()) {
    loadBankAccount(ctx, id, account, index === 0);
  }
  const contactIds = new Set(
    (business.contacts ?? []).map((contact) => loadContact(ctx, id, contact)),
  );
  loadPayables(ctx, { businessId: id, contactIds }, business.payables ?? []);
  for (const invoice of business.invoices ?? []) enterInvoice(ctx, id, invoice, ctx.nowMs);
  for (const endpoint of business.webhookEndpoints ?? []) {
    insertEndpoint(ctx.db, { businessId: id, ...endpoint }, ctx.nowMs);
  }
  // Past payments have moved money in and out; the fixture says what is left.
  setCash(ctx.db, id, cashCents);
  return id;
}

/** Returns the most cents that a fixture's past payments can have moved. */
function pastCents({ payables = [] }: FixtureBusiness): number {
  const cents = payables.flatMap(({ payments = [], totalAmountCents }) =>
    payments.map(({ amountCents }) => amountCents ?? totalAmountCents),
  );
  return cents.reduce((sum, one) => sum + one, 0);
}

function loadBankAccount(
  ctx: Loading,
  businessId: string,
  account: FixtureBankAccount,
  isFirst: boolean,
): void {
  const status = account.status ?? "verified";
  const verifiedAt = status === "verified" ? ctx.nowMs : null;
  const isPending = status === "pending_verification";
  const id = account.id ?? newId("ba");
  rememberAccountNumber(ctx.db, id, account.accountNumber ?? null);
  insertBankAccount(ctx.db, {
    id,
    business_id: businessId,
    status,
    type: account.type ?? "checking",
    connection_type: account.connectionType ?? "manual",
    name: account.name ?? null,
    institution_name: account.institutionName ?? null,
    account_last4: account.accountNumberLast4 ?? account.accountNumber?.slice(-4) ?? null,
    routing_last4: account.routingNumberLast4 ?? null,
    is_default: (account.isDefault ?? isFirst) ? 1 : 0,
    micro_deposits_initiated_at: isPending ? ctx.nowMs : verifiedAt,
    micro_deposits_completed_at: verifiedAt,
    verification_attempts: 0,
    needs_reauth: 0,
  });
  if (isPending) sendMicroDeposits(ctx, { id }, null, ctx.nowMs);
}

function loadContact(ctx: Loading, businessId: string, contact: FixtureContact): string {
  const { bankAccount, taxInfo } = contact;
  const bankLast4 = bankAccount?.last4 ?? bankAccount?.accountNumber?.slice(-4) ?? null;
  const type = contact.type ?? "payee";
  const receiving = type === "business" ? "bidirectional" : "can_be_paid";
  const nowMs = ctx.nowMs;
  const id = contact.id ?? newId("con");
  rememberAccountNumber(ctx.db, id, bankAccount?.accountNumber ?? null);
  insertContact(ctx.db, {
    id,
    business_id: businessId,
    type,
    status: contact.status ?? "active",
    display_name: contact.displayName,
    emails: JSON.stringify(contact.emails ?? []),
    phone: contact.phone ?? null,
    address: null,
    payment_direction: contact.paymentDirection ?? (bankLast4 === null ? "none" : receiving),
    net_terms: contact.netTerms ?? null,
    bank_last4: bankLast4,
    bank_account_type: bankLast4 === null ? null : "checking",
    tax_legal_name: taxInfo?.legalName ?? null,
    tax_id_type: taxInfo?.taxIdType ?? null,
    tax_id_mask: taxInfo?.taxIdMask ?? null,
    created_at: instantOr(contact.createdAt, nowMs),
    updated_at: instantOrNull(contact.updatedAt),
    archived_at:
      instantOrNull(contact.archivedAt) ?? (contact.status === "archived" ? nowMs : null),
  });
  return id;
}

interface Owner {
  businessId: string;
  contactIds: ReadonlySet<string>;
}

function loadPayables(ctx: Loading, owner: Owner, payables: readonly FixturePayable[]): void {
  const firstNumber = takeBillNumbers(ctx.db, owner.businessId, payables.length);
  for (const [index, payable] of payables.entries()) {
    loadPayable(ctx, owner, payable, firstNumber + index);
  }
}

function loadPayable(
  ctx: Loading,
  { businessId, contactIds }: Owner,
  payable: FixturePayable,
  number: number,
): void {
  const contactId = payable.contactId ?? payable.contact?.id ?? null;
  if (contactId !== null && !contactIds.has(contactId)) {
    throw invalid("contactId", `The fixture's business has no contact "${contactId}"`);
  }
  const createdAt = instantOr(payable.createdAt, ctx.nowMs);
  const id = insertPayable(
    ctx.db,
    {
      business_id: businessId,
      contact_id: contactId,
      status: payable.status ?? "approved",
      total_cents: payable.totalAmountCents,
      created_at: createdAt,
      due_date: payable.dueDate,
      issue_date: payable.issueDate,
      custom_number: payable.customNumber,
      description: payable.description,
      items: totalled(
        payable.items?.map((item) => ({
          ...item,
          name: item.name ?? undefined,
          description: item.description ?? undefined,
        })),
      ),
    },
    payable.id,
    number,
  );
  if (payable.payments === undefined && payable.amountPaidCents === undefined) return;
  const target = { id, businessId, contactId, totalCents: payable.totalAmountCents, createdAt };
  for (const payment of payable.payments ?? []) insertPastPayment(ctx, target, payment);
  payRestOutside(ctx, target, payable);
  refreshPaymentStatus(ctx.db, id);
}

/**
 * Records the part of a fixture's paid amount that no payment accounts for as paid outside the
 * service.
 */
function payRestOutside(
  ctx: Loading,
  target: Parameters<typeof insertPastPayment>[1],
  payable: FixturePayable,
): void {
  const inService = (payable.payments ?? [])
    .filter(({ status }) => status === "completed")
    .reduce((sum, { amountCents }) => sum + (amountCents ?? target.totalCents), 0);
  const amountCents = (payable.amountPaidCents ?? 0) - inService;
  if (amountCents <= 0) return;
  insertPastPayment(ctx, target, { status: "completed", amountCents, paymentRail: null });
}

function instantOr(text: string | undefined, fallbackMs: number): number {
  return text === undefined ? fallbackMs : Date.parse(text);
}

function instantOrNull(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Date.parse(text);
}
