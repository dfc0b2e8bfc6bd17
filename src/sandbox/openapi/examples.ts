type Example = Readonly<Record<string, unknown>>;

const contactId = "con_5f0c2a9be1d34870a6c1";
const bankAccountId = "ba_0b7d1f3c5e9a2468bd10";

/** A request body to start from, by the operation's name. */
export const bodyExamples: Readonly<Record<string, Example>> = {
  createPayment: {
    payableId: "bill_3c9e7a1b5d2f4860e8aa",
    paymentRail: "SERVICE",
    fundingSource: "balance",
    clearing: "STANDARD",
  },
  cancelPayment: { reason: "The goods were returned" },
  createContact: {
    displayName: "Harbor Freight Lines",
    emails: ["billing@harbor.example"],
    address: {
      streetOne: "12 Pier Street",
      city: "Portland",
      stateCode: "ME",
      zipCode: "04101",
    },
    bankAccount: {
      accountNumber: "000123456789",
      routingNumber: "021000021",
      accountType: "checking",
    },
    taxInfo: { legalName: "Harbor Freight Lines LLC", taxIdType: "ein", taxId: "12-3456789" },
  },
  updateContact: { emails: ["ap@harbor.example"], netTerms: 30 },
  createPayable: {
    contactId,
    dueDate: "2027-01-15",
    issueDate: "2026-12-16",
    customNumber: "INV-2041",
    items: [{ name: "Freight, December", quantity: 2, unitAmountCents: 125_000 }],
  },
  createDeposit: { amountCents: 2_500_000, bankAccountId },
  createWithdrawal: { amountCents: 100_000, bankAccountId },
  createBankAccount: {
    accountNumber: "000123456789",
    routingNumber: "021000021",
    type: "checking",
    name: "Operating account",
  },
  verifyMicroDeposits: { amountsCents: [12, 47] },
  createInvoice: {
    customerId: contactId,
    dueDate: "2027-01-31",
    items: [{ name: "Consulting, December", quantity: 12, unitAmountCents: 15_000 }],
  },
  markInvoicePaid: { amountCents: 180_000 },
  setInvoicePaymentLink: { enabled: true, expiresAt: "2099-12-31T23:59:59Z" },
  connectAccounting: { redirectUri: "https://payrun.example/accounting/connected" },
  mapAccountingVendor: { connectionId: contactId, accountingVendorId: "vendor-1" },
  mapAccountingBankAccount: {
    fundingSourceId: bankAccountId,
    accountingBankAccountId: "account-1",
  },
  createWebhookEndpoint: {
    url: "https://payrun.example/webhooks/acme",
    events: ["*"],
    description: "Payrun",
  },
  updateWebhookEndpoint: { events: ["payable.paid", "payable.payment.failed"], status: "active" },
  setBusinessAlias: { alias: "Acme West" },
  withdrawBusinessBalance: { amount: 1_250.5, fundingSourceId: bankAccountId },
  submitTaxInfo: { ein: "98-7654321" },
  signTaxForm: { signerName: "Ada Okafor", signedAt: "2026-01-15T09:30:00-05:00" },
  addOfficer: {
    firstName: "Ada",
    lastName: "Okafor",
    title: "Chief Executive",
    dateOfBirth: "1979-02-28",
    ssn: "321-54-9876",
    address: {
      street: "12 Harbor Street",
      city: "Portland",
      state: "ME",
      zip: "04101",
      country: "US",
    },
  },
  certifyBeneficialOwnership: {
    certifierName: "Ada Okafor",
    certifiedAt: "2026-01-15T14:40:00Z",
  },
};
