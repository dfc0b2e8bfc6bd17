import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { netCreditByPayable, startSandbox, type TestSandbox } from "../support/sandbox.ts";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control.reset("blank"));

test("a bill is paid from the balance and settles", async () => {
  const contact = await sandbox.api("POST", "/v1/contacts", {
    body: {
      displayName: "Acme",
      bankAccount: {
        accountNumber: "123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    },
  });
  const bill = await sandbox.control.createPayable({
    contactId: contact.body["id"],
    totalAmountCents: 25_000_00,
  });
  const paid = await sandbox.api("POST", "/v1/payments", {
    key: "k1",
    body: { payableId: bill.id, fundingSource: "balance", paymentRail: "SERVICE" },
  });
  expect(paid.status).toBe(201);
  await sandbox.control.advance("P7D");
  const ledger = await sandbox.control.ledger();
  expect(netCreditByPayable(ledger)).toEqual(new Map([[bill.id, 25_000_00]]));
});
