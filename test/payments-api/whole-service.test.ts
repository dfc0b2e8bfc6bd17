import { expect } from "vitest";
import { PaymentsClient, type BankAccount } from "../../src/payments-api/index.ts";
import { rejection } from "./local-service.ts";
import { sharedSandboxTest } from "../sandbox/sandbox-test.ts";

const test = sharedSandboxTest().extend(
  "client",
  { scope: "file" },
  ({ service }, { onCleanup }) => {
    const token = { value: service.business.token };
    const client = new PaymentsClient({ baseUrl: service.url, token });
    onCleanup(() => client.close());
    return client;
  },
);

async function bank(client: PaymentsClient): Promise<BankAccount> {
  const [account] = await client.bankAccounts.list();
  if (account === undefined) throw new Error("the business has no bank account");
  return account;
}

test("a deposit and a withdrawal are made once per key and are found among the transactions", async ({
  client,
}) => {
  const { balance } = client;
  const bankAccountId = (await bank(client)).id;
  const transfer = { amountCents: 50_00, bankAccountId };
  const deposit = await balance.deposit(transfer, { idempotencyKey: "deposit-1" });
  expect(deposit).toMatchObject({ type: "deposit", amountCents: 50_00, bankAccountId });
  expect(await balance.deposit(transfer, { idempotencyKey: "deposit-1" })).toEqual(deposit);
  const withdrawal = await balance.withdraw(transfer, { idempotencyKey: "withdrawal-1" });
  expect(withdrawal).toMatchObject({ type: "withdrawal", amountCents: 50_00 });
  const found = await balance.transactions.listAll();
  expect(found.map(({ id }) => id)).toEqual([withdrawal?.id, deposit?.id]);
});

test("a withdrawal of more than the balance fails and is known not to be made", async ({
  client,
}) => {
  const transfer = { amountCents: 9_000_000_00, bankAccountId: (await bank(client)).id };
  const error = await rejection(client.balance.withdraw(transfer, { idempotencyKey: "too-much" }));
  expect(error).toMatchObject({ code: "insufficient_balance", outcome: "not_applied" });
});

test("a transfer whose response is lost has an unknown outcome, and is replayed under its key", async ({
  sandbox,
  client,
}) => {
  const path = "/v1/balance/deposits";
  await sandbox.control.faults([{ path, when: "after", effect: "drop", times: 1 }]);
  const transfer = { amountCents: 7_00, bankAccountId: (await bank(client)).id };
  const key = { idempotencyKey: "lost" };
  const error = await rejection(client.balance.deposit(transfer, key));
  expect(error).toMatchObject({ code: "no_answer", outcome: "unknown" });
  const deposit = await client.balance.deposit(transfer, key);
  const found = await client.balance.transactions.listAll();
  expect(found.filter(({ amountCents }) => amountCents === 7_00)).toEqual([deposit]);
});

test("an invoice can be created, sent, linked and paid in part, and another can be voided", async ({
  client,
}) => {
  const { contacts, invoices } = client;
  const customer = await contacts.create({ displayName: "Customer" });
  const items = [{ name: "Work", quantity: 2, unitAmountCents: 30_00 }];
  const { id } = await invoices.create({ customerId: customer.id, items }, { idempotencyKey: "i" });
  expect(await invoices.send(id)).toMatchObject({ status: "open", totalAmountCents: 60_00 });
  const unlinked = await invoices.setPaymentLink(id, { enabled: false });
  expect(unlinked?.paymentLink?.enabled).toBe(false);
  expect(await invoices.markPaid(id, { amountCents: 10_00 })).toMatchObject({
    amountPaidCents: 10_00,
    remainingAmountCents: 50_00,
  });
  expect(await invoices.markPaid(id)).toMatchObject({ status: "paid" });
  const other = await invoices.create({ customerId: customer.id, items });
  expect(await invoices.void(other.id)).toMatchObject({ status: "void" });
  expect((await invoices.get(id)).customer?.id).toBe(customer.id);
  const paid = await invoices.list({ status: "paid" });
  expect(paid.items.map((invoice) => invoice.id)).toEqual([id]);
});

test("a bank account is linked, and verified by the amounts of its micro-deposits", async ({
  sandbox,
  client,
}) => {
  const { bankAccounts } = client;
  const account = await bankAccounts.create({
    accountNumber: "555666777888",
    routingNumber: "021000021",
    accountType: "savings",
  });
  expect(account).toMatchObject({ status: "pending_verification", accountNumberLast4: "7888" });
  await sandbox.control.advance("P5D");
  const { body } = await sandbox.api<{ amountsCents: [number, number] }>(
    "GET",
    `/sandbox/micro-deposits/${account?.id}`,
  );
  const verified = await bankAccounts.verifyMicroDeposits(account?.id ?? "", body.amountsCents);
  expect(verified?.status).toBe("verified");
});
