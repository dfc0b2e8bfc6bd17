/**
 * Example requests of people and systems, by operation. Their bills, vendors and runs are those of
 * the example answers.
 */
export const REQUESTS: Readonly<Record<string, unknown>> = {
  "post /v1/plans": { playbook: "weekly-vendors", period: "2026-11-26" },
  "post /v1/runs": { playbook: "weekly-vendors", period: "2026-11-26" },
  "post /v1/runs/{id}/decisions": {
    decision: "approve",
    planHash: "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
    drop: ["pbl_0000000000000071"],
    comment: "The amount of the one left out is disputed.",
  },
  "post /v1/runs/{id}/cancel": { reason: "Planned with last week's due dates." },
  "post /v1/playbooks": {
    name: "rent",
    text: "kind: pay-run\nselect: { due: within 14 days }\napprove:\n  - { by: [controller] }\n",
  },
  "post /v1/playbooks/{name}/confirmation": {
    hash: "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
  },
  "post /v1/schedules/{name}/pause": { note: "Until the new bank account is verified." },
  "post /v1/schedules/{name}/resume": { note: "The new bank account is verified." },
  "post /v1/schedules/{name}/backfill": { period: "2026-11-19" },
  "post /v1/off-cycle": { payables: ["pbl_0000000000000071"], amountCents: 50_000 },
  "post /v1/holds": {
    contactId: "con_0000000000000004",
    reason: "Their new bank account is not verified.",
    until: "2026-12-01",
  },
  "post /v1/releases": { by: "Cora" },
  "post /v1/stops": {
    contactId: "con_0000000000000004",
    cancelScheduled: true,
    reason: "Their mailbox was taken over.",
  },
  "post /v1/cancellations": { payments: ["pmt_0000000000000007"], reason: "Paid by cheque." },
  "post /v1/incidents/{source}/decision": {
    decision: "released",
    reason: "The account has its money again.",
  },
  "post /v1/payables/{id}/resolution": {
    action: "paid-elsewhere",
    reason: "Paid by cheque 1042 on November 20.",
  },
  "post /v1/resolutions": {
    reasonCode: "payable_blocked",
    action: "retry",
    reason: "The bills are free again.",
  },
  "post /v1/tokens": { name: "Cora", roles: ["controller"], expiresAt: "2027-02-24T14:00:00Z" },
  "post /v1/onboardings/{business}/tax": { ein: "12-3456789" },
  "post /v1/onboardings/{business}/signature": { signerName: "Olga Owner" },
  "post /v1/onboardings/{business}/officers": {
    officers: [
      {
        firstName: "Olga",
        lastName: "Owner",
        title: "CEO",
        dateOfBirth: "1980-04-01",
        ssn: "123-45-6789",
        address: {
          street: "1 Main Street",
          city: "New York",
          state: "NY",
          zip: "10001",
          country: "US",
        },
      },
    ],
  },
  "post /v1/onboardings/{business}/certification": { certifierName: "Olga Owner" },
  "post /v1/onboardings/{business}/documents": {
    documents: [{ documentType: "einLetter", file: "JVBERi0xLjcK" }],
  },
  "post /v1/onboardings/{business}/bank-account": {
    accountNumber: "000123456789",
    routingNumber: "021000021",
    accountType: "checking",
  },
  "post /v1/onboardings/{business}/micro-deposits": { amountsCents: [12, 34] },
};

/** An event in the form that the Payments Service sends. */
export const EVENT = {
  id: "evt_0000000000000001",
  type: "payable.paid",
  sequence: "42",
  createdAt: "2026-11-26T14:00:00Z",
  businessId: "biz_0000000000000001",
  data: { object: "payable", id: "pbl_0000000000000007" },
};

/** A notice in the form that Payrun sends. */
export const NOTICE = {
  type: "payrun.run_completed",
  timestamp: "2026-11-26T14:00:00Z",
  data: {
    noticeId: "ntc_0000000000000001",
    business: "acme",
    runId: "pay-run/acme/weekly-vendors/2026-11-26",
    roles: [],
    subject: "The run weekly-vendors/2026-11-26 is completed",
    text: "12 bills, $14,250.00, have settled.",
  },
};
